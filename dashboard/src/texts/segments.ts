export const segments = {
  heading: "Segments",
  intro: "Groups of users that the rules of all flags in this project can refer to.",
  new: "New segment",
  create: "Create segment",
  editHeading: "Edit segment",
  namePlaceholder: "Beta testers",
  emptyHeading: "No segments yet",
  emptyText:
    "A segment is a list of conditions with a name, such as “Beta testers”. Flags of all environments can have rules for it.",
  everyone: "Contains every user, because it has no conditions.",
  members: "Contains users if",
  changes: "Changes to segments",
  actions: (name: string) => `Actions for ${name}`,
  uses: "Where it is used",
  usesOf: (name: string) => `(${name})`,
  unused: "No rule refers to it.",
  use: (flag: string, environment: string) => `${flag} in ${environment}`,
};
