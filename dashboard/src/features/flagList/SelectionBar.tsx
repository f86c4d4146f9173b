/** The actions on the chosen flags. The bar stays on the screen while any flag is chosen. */

import { Button } from "@mantine/core";
import { useState } from "react";
import type { BulkAction } from "./bulkCalls";
import type { Environment, EnvironmentPath, Flag } from "../../api/client";
import { CHOSEN_MAX } from "../../ui/withChoice";
import { bulk as texts } from "./bulkTexts";
import { GuardedButton } from "../../ui/GuardedButton";
import { lateDialog } from "../../ui/lateDialog";
import classes from "../../ui/SelectionBar.module.css";

const BulkDialog = lateDialog(() => import("./BulkDialog").then((module) => module.BulkDialog));
const ACTIONS = Object.keys(texts.actions) as BulkAction[];

interface Props {
  readonly path: EnvironmentPath;
  readonly environment: Environment;
  readonly chosen: readonly Flag[];
  /** How many flags the list shows. */
  readonly shown: number;
  readonly onChooseShown: () => void;
  readonly onChoose: (flags: readonly Flag[]) => void;
}

export default function SelectionBar({ path, environment, chosen, shown, onChooseShown, onChoose }: Props) {
  const [action, setAction] = useState<BulkAction>("enable");
  const [opened, setOpened] = useState(false);
  const open = (wanted: BulkAction) => {
    setAction(wanted);
    setOpened(true);
  };
  return (
    <section aria-label={texts.label} className={classes.bar}>
      <span role="status" className={classes.count}>
        {texts.chosen(chosen.length, CHOSEN_MAX)}
      </span>
      {ACTIONS.map((each) => (
        <GuardedButton
          key={each}
          needs={each === "enable" || each === "disable" ? "flags:toggle" : "flags:write"}
          size="compact-sm"
          variant="default"
          onClick={() => open(each)}
        >
          {texts.actions[each]}
        </GuardedButton>
      ))}
      {chosen.length < Math.min(shown, CHOSEN_MAX) && (
        <Button size="compact-sm" variant="subtle" onClick={onChooseShown}>
          {texts.chooseShown(shown, CHOSEN_MAX)}
        </Button>
      )}
      <Button size="compact-sm" variant="subtle" color="gray" onClick={() => onChoose([])}>
        {texts.none}
      </Button>
      <BulkDialog
        path={path}
        environment={environment}
        flags={chosen}
        action={action}
        onLeaveOut={(left) => onChoose(chosen.filter((flag) => !left.includes(flag)))}
        onDone={() => onChoose([])}
        opened={opened}
        onClose={() => setOpened(false)}
      />
    </section>
  );
}
