/** Apart from the words for one restore, which every page has. */
export const restoreSeveral = {
  choose: (change: string) => `Choose: ${change}`,
  chooseSeveral: "Choose several",
  chooseNone: "Clear selection",
  chosen: (count: number, most: number) => (count > most ? `${count} chosen; at most ${most}` : `${count} chosen`),
  restoreSeveral: (count: number) => `Restore ${count}…`,
  restoreCount: (count: number) => `Restore ${count}`,
  severalHeading: (count: number) => `Restore ${count} ${count === 1 ? "change" : "changes"}?`,
  severalText:
    "This restores the values before these changes, the newest first, and deletes what they created. Later changes to other fields are kept.",
  severalRestored: (count: number) => `${count} ${count === 1 ? "change was" : "changes were"} restored.`,
};
