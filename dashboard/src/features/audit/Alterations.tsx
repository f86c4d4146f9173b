/** The alterations that a restore makes. */

import { Stack, Text } from "@mantine/core";
import type { Alteration } from "./restoresCalls";
import { fieldChanges } from "../../ui/changes/changes";
import { restore as texts } from "./restoreTexts";
import { ChangedFields } from "../../ui/changes/ChangedFields";

/** The first is that of the resource; a restored flag is followed by its rules. */
export function Alterations({ alterations }: { alterations: readonly Alteration[] }) {
  const [first, ...others] = alterations;
  if (!first) return null;
  const [kind = "", verb = ""] = first.action.split(".");
  if (verb === "deleted" && kind in texts.isDeleted) {
    return <Text>{texts.isDeleted[kind as keyof typeof texts.isDeleted]}</Text>;
  }
  const before = Object.fromEntries(first.fields.map(({ field, present }) => [field, present]));
  const after = Object.fromEntries(first.fields.map(({ field, restored }) => [field, restored]));
  return (
    <Stack gap="xs">
      {verb === "created" && kind in texts.comesBack && (
        <Text>{texts.comesBack[kind as keyof typeof texts.comesBack]}</Text>
      )}
      {verb === "unarchived" && <Text>{texts.isUnarchived}</Text>}
      {verb === "archived" && <Text>{texts.isArchived}</Text>}
      <ChangedFields fields={fieldChanges({ before: verb === "created" ? null : before, after })} />
      {others.length > 0 && <Text>{texts.rulesComeBack(others.length)}</Text>}
    </Stack>
  );
}
