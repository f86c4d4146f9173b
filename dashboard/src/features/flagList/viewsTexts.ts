/** The texts of the menu of saved views. */
export const views = {
  heading: "Saved views",
  none: "No saved views yet. Set filters, then save them here.",
  all: "All flags",
  save: "Save this filter as a view…",
  rename: (name: string) => `Rename ${name}…`,
  remove: (name: string) => `Delete ${name}…`,
  ask: (name: string) => `Delete the view ${name}?`,
  saveHeading: "Save a view",
  renameHeading: "Rename the view",
  saveAction: "Save view",
  hint: "All members of the project see it, in every environment.",
  consequence: "It is deleted for all members of the project. No flag changes.",
};
