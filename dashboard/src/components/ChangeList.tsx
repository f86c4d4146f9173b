/** Changes in pages. */

import { useInfiniteQuery } from "@tanstack/react-query";
import type { changesQuery } from "../api/changes";
import { t } from "../texts";
import { ChangeRows } from "./ChangeRows";
import { Empty } from "./Empty";
import { IconPencil } from "./icons";
import { Pages } from "./Pages";

interface Props {
  readonly changes: ReturnType<typeof changesQuery>;
  /** By the flags' ids. */
  readonly flagNames: ReadonlyMap<string, string>;
  readonly emptyText: string;
}

export function ChangeList({ changes, flagNames, emptyText }: Props) {
  const query = useInfiniteQuery(changes);
  const items = query.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Pages
      query={query}
      count={items.length}
      empty={<Empty icon={<IconPencil size={22} />} title={t.changes.emptyHeading} text={emptyText} />}
    >
      <ChangeRows items={items} flagNames={flagNames} />
    </Pages>
  );
}
