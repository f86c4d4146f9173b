import { changes } from "../changes/changesTexts";

export const changed = {
  label: "Changed meanwhile",
  fields: "What has changed",
  someone: "Someone",
  while: (who: string, fields: readonly string[]) => `${who} changed ${listed(fields)} while you were editing.`,
  since: (who: string, fields: readonly string[]) => `${who} has changed ${listed(fields)} since you saw it.`,
  both: "It does not overlap with your changes. Saving keeps both.",
  confirm: "Review the change, then confirm again.",
  choose: (count: number) =>
    count === 1
      ? "You both changed this. Choose what to save."
      : "You both changed some of these. Choose what to save.",
  mine: (value: string) => `Yours: ${value}`,
  theirs: (value: string) => `Theirs: ${value}`,
  nothing: "none",
  kept: (fields: readonly string[]) => `Saved. What others changed meanwhile is kept: ${listed(fields)}.`,
  field: (field: string) => changes.fields[field] ?? field,
  part: (field: string, part: string) => (part === "" ? field : `${field}: ${part}`),
  weights: "weights of all",
  ruleMatch: (type: string, value: string) => `${type}: ${value}`,
  notSwitched: (name: string) => `${name} was not turned on`,
  something: "it",
  switchAnyway: "Turn on anyway",
};

function listed(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  return names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${last}` : last;
}
