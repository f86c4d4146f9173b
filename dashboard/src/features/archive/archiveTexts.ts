export const archive = {
  heading: "Archived flags",
  intro: "Responses to applications do not contain archived flags. They keep their rules, history and keys.",
  back: "All flags",
  emptyHeading: "No archived flags",
  emptyText: "Archive a flag that you no longer need in the menu on its page. You can unarchive it later.",
  ask: (name: string) => `Archive ${name}?`,
  consequence:
    "Responses to applications will no longer contain it, so they use the value in their code. It keeps its rules, history and key, and you can unarchive it.",
  lastDay: (count: number, on: number) =>
    count === 0
      ? "It was not evaluated in the last 24 hours."
      : `In the last 24 hours it was evaluated ${count.toLocaleString("en")} ${count === 1 ? "time" : "times"}, ${on.toLocaleString("en")} of them on.`,
  archive: "Archive",
  archiveFlag: "Archive flag",
  refusal: "This flag is archived. Unarchive it to change it.",
  unarchive: "Unarchive",
  unarchiveOf: (name: string) => `Unarchive ${name}`,
  notUnarchived: (name: string) => `${name} could not be unarchived`,
  delete: "Delete",
  deleteOf: (name: string) => `Delete ${name}`,
  since: "Archived",
  inNoAnswer: "Responses to applications do not contain it.",
  comesBack: (audience: string) => `When you unarchive it: ${audience.charAt(0).toLowerCase()}${audience.slice(1)}`,
};
