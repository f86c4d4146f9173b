/** Changes in pages, of which several can be put back together. */

import { Button, Group } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { instanceChangesQuery } from "../../api/changes";
import { withChoice } from "../../ui/withChoice";
import { restoreNeeds } from "./restorable";
import { restoreSeveral as texts } from "./restoreSeveralTexts";
import { Pages } from "../../ui/Pages";
import type { ChangeRowProps } from "./ChangeRow";
import { ChangeRows } from "./ChangeRows";
import { RestoreBar } from "./RestoreBar";

export interface ChangeListProps extends Omit<ChangeRowProps, "change"> {
  readonly changes: typeof instanceChangesQuery;
  readonly empty: ReactNode;
  readonly actions?: ReactNode;
}

export function ChangeList({ changes, empty, actions, ...rows }: ChangeListProps) {
  const query = useInfiniteQuery(changes);
  const items = query.data?.pages.flatMap((page) => page.items) ?? [];
  const [chosen, setChosen] = useState<ReadonlySet<string> | null>(null); // null: nothing is being chosen
  const choose = (id: string, wanted: boolean) => setChosen((before) => withChoice(before ?? new Set(), id, wanted));
  const canChoose = rows.projectId !== undefined && items.some((each) => restoreNeeds(each) !== null);
  return (
    <>
      {(canChoose || actions) && (
        <Group gap="sm" mb="xs">
          {canChoose && (
            <Button variant="subtle" size="compact-sm" onClick={() => setChosen(chosen ? null : new Set())}>
              {chosen ? texts.chooseNone : texts.chooseSeveral}
            </Button>
          )}
          {chosen && chosen.size > 0 && rows.projectId !== undefined && (
            <RestoreBar
              projectId={rows.projectId}
              changes={items.filter(({ id }) => chosen.has(id))}
              flagNames={rows.flagNames}
              onDone={() => setChosen(null)}
            />
          )}
          {actions}
        </Group>
      )}
      <Pages query={query} count={items.length} empty={empty}>
        <ChangeRows items={items} {...rows} {...(chosen && { chosen, onChoose: choose })} />
      </Pages>
    </>
  );
}
