/** Turns the shortcuts of a single key on and off. */

import { Switch } from "@mantine/core";
import { turnSingleKeys, useSingleKeys } from "./singleKeys";
import { shortcuts as texts } from "./shortcutsTexts";

export function SingleKeysSwitch() {
  return (
    <Switch
      label={texts.single}
      description={texts.singleHint}
      checked={useSingleKeys()}
      onChange={({ currentTarget: { checked } }) => turnSingleKeys(checked)}
    />
  );
}
