/** Who changed one flag and its rules. */

import { useInfiniteQuery } from "@tanstack/react-query";
import { changesQuery } from "../api/changes";
import type { FlagPath } from "../api/client";
import { t } from "../texts";
import { ChangeRows } from "./ChangeRows";
import { Empty } from "./Empty";
import { IconPencil } from "./icons";
import { Pages } from "./Pages";

export function FlagChanges({ path }: { path: FlagPath }) {
  const query = useInfiniteQuery(changesQuery(path, path.flag_id));
  const items = query.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Pages
      query={query}
      count={items.length}
      empty={<Empty icon={<IconPencil size={22} />} title={t.changes.emptyHeading} text={t.changes.flagEmptyText} />}
    >
      <ChangeRows path={path} items={items} />
    </Pages>
  );
}
