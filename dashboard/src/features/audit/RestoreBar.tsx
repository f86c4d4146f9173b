/** The changes that are chosen, and a button that shows the alterations and then puts them back. */

import { Button, Text } from "@mantine/core";
import type { Change } from "../../api/changes";
import { RESTORED_MAX } from "./restorable";
import { useDialog } from "../../ui/useDialog";
import { restoreSeveral as texts } from "./restoreSeveralTexts";
import { lateDialog } from "../../ui/lateDialog";

const RestoreAllDialog = lateDialog(() => import("./RestoreAllDialog").then((module) => module.RestoreAllDialog));

interface Props {
  readonly projectId: string;
  readonly changes: readonly Change[];
  readonly flagNames: ReadonlyMap<string, string>;
  readonly onDone: () => void;
}

export function RestoreBar({ onDone, ...chosen }: Props) {
  const dialog = useDialog();
  const count = chosen.changes.length;
  return (
    <>
      <Text span size="sm" role="status">
        {texts.chosen(count, RESTORED_MAX)}
      </Text>
      <Button size="compact-sm" variant="default" disabled={count > RESTORED_MAX} onClick={dialog.open}>
        {texts.restoreSeveral(count)}
      </Button>
      <RestoreAllDialog {...chosen} onDone={onDone} {...dialog.props} />
    </>
  );
}
