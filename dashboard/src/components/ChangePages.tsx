/** The audit trail in pages, for an environment or for one flag and its rules. */

import { useInfiniteQuery } from "@tanstack/react-query";
import { changesQuery } from "../api/changes";
import type { EnvironmentPath } from "../api/client";
import { t } from "../texts";
import { ChangeRows } from "./ChangeRows";
import { Empty } from "./Empty";
import { IconPencil } from "./icons";
import { Pages } from "./Pages";

interface Props {
  readonly path: EnvironmentPath;
  readonly flagId?: string;
  readonly emptyText: string;
}

export default function ChangePages({ path, flagId, emptyText }: Props) {
  const query = useInfiniteQuery(changesQuery(path, flagId));
  const items = query.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Pages
      query={query}
      count={items.length}
      empty={<Empty icon={<IconPencil size={22} />} title={t.changes.emptyHeading} text={emptyText} />}
    >
      <ChangeRows path={path} items={items} />
    </Pages>
  );
}
