/** Changes in pages. */

import { Button, Group } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import type { changesQuery } from "../../api/changes";
import { useState } from "react";
import { withChoice } from "../../lib/bulk";
import { restoreNeeds } from "../../lib/restorable";
import { changes as changeTexts } from "../../texts/changes";
import { restoreSeveral as texts } from "../../texts/restoreSeveral";
import { ChangeRows, type ChangeRowsProps } from "./ChangeRows";
import { Empty } from "../shared/Empty";
import { IconPencil } from "../shared/icons";
import { Pages } from "../shared/Pages";
import { RestoreBar } from "./RestoreBar";

interface Props extends Omit<ChangeRowsProps, "items"> {
  readonly changes: ReturnType<typeof changesQuery>;
  readonly emptyText: string;
  readonly emptyHeading?: string;
}

export function ChangeList({ changes, emptyText, emptyHeading = changeTexts.emptyHeading, ...rows }: Props) {
  const query = useInfiniteQuery(changes);
  const items = query.data?.pages.flatMap((page) => page.items) ?? [];
  const [chosen, setChosen] = useState<ReadonlySet<string> | null>(null); // null: nothing is being chosen
  const choose = (id: string, wanted: boolean) => setChosen((before) => withChoice(before ?? new Set(), id, wanted));
  const canChoose = rows.projectId !== undefined && items.some((each) => restoreNeeds(each) !== null);
  return (
    <>
      {canChoose && (
        <Group gap="sm" mb="xs">
          <Button variant="subtle" size="compact-sm" onClick={() => setChosen(chosen ? null : new Set())}>
            {chosen ? texts.chooseNone : texts.chooseSeveral}
          </Button>
          {chosen && chosen.size > 0 && rows.projectId !== undefined && (
            <RestoreBar
              projectId={rows.projectId}
              changes={items.filter(({ id }) => chosen.has(id))}
              flagNames={rows.flagNames}
              onDone={() => setChosen(null)}
            />
          )}
        </Group>
      )}
      <Pages
        query={query}
        count={items.length}
        empty={<Empty icon={<IconPencil size={22} />} title={emptyHeading} text={emptyText} />}
      >
        <ChangeRows items={items} {...rows} {...(chosen && { chosen, onChoose: choose })} />
      </Pages>
    </>
  );
}
