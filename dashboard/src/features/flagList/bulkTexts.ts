/** The texts of bulk actions. */

const flags = (count: number) => `${count.toLocaleString("en")} ${count === 1 ? "flag" : "flags"}`;

export const bulk = {
  label: "Chosen flags",
  chosen: (count: number, most: number) =>
    count >= most ? `${flags(count)} chosen, the maximum` : `${flags(count)} chosen`,
  chooseShown: (count: number, most: number) =>
    count > most ? `Choose the first ${most}` : `Choose all ${count} shown`,
  none: "Clear selection",
  actions: {
    enable: "Turn on",
    disable: "Turn off",
    add_tags: "Add tags",
    remove_tags: "Remove tags",
    archive: "Archive",
  },
  heading: {
    enable: "Turn flags on",
    disable: "Turn flags off",
    add_tags: "Add tags to flags",
    remove_tags: "Remove tags from flags",
    archive: "Archive flags",
  },
  confirm: {
    enable: (count: number) => `Turn on ${flags(count)}`,
    disable: (count: number) => `Turn off ${flags(count)}`,
    add_tags: (count: number) => `Add tags to ${flags(count)}`,
    remove_tags: (count: number) => `Remove tags from ${flags(count)}`,
    archive: (count: number) => `Archive ${flags(count)}`,
  },
  done: {
    enable: (count: number) => `${flags(count)} turned on.`,
    disable: (count: number) => `${flags(count)} turned off.`,
    add_tags: (count: number) => `Tags added to ${flags(count)}.`,
    remove_tags: (count: number) => `Tags removed from ${flags(count)}.`,
    archive: (count: number) => `${flags(count)} archived.`,
  },
  archiveText:
    "Responses to applications will no longer contain them, so they use the values in their code. You can unarchive each of them.",
  critical: (environment: string) => `${environment} is a critical environment. This affects its users immediately.`,
  changing: (count: number) => `${flags(count)} will change`,
  same: (count: number) => `${flags(count)} ${count === 1 ? "needs" : "need"} no change`,
  nothing: "None of the chosen flags needs a change.",
  tags: "Tags",
  leaveOut: "Leave these out",
};
