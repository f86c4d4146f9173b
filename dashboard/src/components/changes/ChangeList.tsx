/** Changes in pages. */

import { useInfiniteQuery } from "@tanstack/react-query";
import type { changesQuery } from "../../api/changes";
import { changes as changeTexts } from "../../texts/changes";
import { ChangeRows, type ChangeRowsProps } from "./ChangeRows";
import { Empty } from "../shared/Empty";
import { IconPencil } from "../shared/icons";
import { Pages } from "../shared/Pages";

interface Props extends Omit<ChangeRowsProps, "items"> {
  readonly changes: ReturnType<typeof changesQuery>;
  readonly emptyText: string;
  readonly emptyHeading?: string;
}

export function ChangeList({ changes, emptyText, emptyHeading = changeTexts.emptyHeading, ...rows }: Props) {
  const query = useInfiniteQuery(changes);
  const items = query.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Pages
      query={query}
      count={items.length}
      empty={<Empty icon={<IconPencil size={22} />} title={emptyHeading} text={emptyText} />}
    >
      <ChangeRows items={items} {...rows} />
    </Pages>
  );
}
