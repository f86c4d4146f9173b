export const projects = {
  heading: "Projects",
  new: "New project",
  create: "Create project",
  namePlaceholder: "Web shop",
  emptyHeading: "Create your first project",
  emptyText:
    "A project is one application. It comes with two environments, Production and Staging, and one SDK key that serves both.",
  emptyCurl: "Or over the API",
  search: "Find a project",
  none: (query: string) => `No project matches “${query}”.`,
  created: "Created",
};

export const settings = {
  heading: "Project settings",
  general: "General",
  saved: "Saved",
  sdkKey: "SDK key",
  sdkKeyText: "Your application sends it as X-SDK-Key. One key serves every environment of the project.",
  reveal: "Show the key",
  conceal: "Hide the key",
  copyKey: "Copy key",
  regenerate: "Regenerate key",
  regenerateHeading: "Regenerate the SDK key?",
  regenerateText: (name: string) =>
    `From that moment every application that uses the present key of ${name} gets 401 from evaluate and falls back to off, in every environment, until it is given the new key.`,
  regenerateDo: "Regenerate and break the old key",
  regenerated: "The key is new. The old one is refused from now on.",
  environments: "Environments",
  environmentsText: "Each has its own flags. The key is what your application sends and cannot be changed later.",
  environmentPlaceholder: "Canary",
  environmentCreate: "Create environment",
  environmentNew: "New environment",
  environmentRename: "Rename environment",
  environmentKeyHint: "Lowercase letters, digits, _ and -",
  rename: "Rename",
  renameOf: (name: string) => `Rename ${name}`,
  deleteOf: (name: string) => `Delete ${name}`,
  flagsOf: (name: string) => `Flags of ${name}`,
  danger: "Delete this project",
  dangerText: "Its environments, flags, rules and evaluation history are gone for good, and its SDK key stops working.",
  deleteProject: "Delete project",
  environmentNone: "No environment is left. Create one to hold flags.",
};

export const deletion = {
  heading: (name: string) => `Delete ${name}?`,
  project:
    "Everything in it is deleted for good: environments, flags, rules and evaluation history. Applications that use its SDK key get 401.",
  environment: "Its flags, rules and evaluation history are deleted for good. Applications that ask for it get 404.",
  flag: "Its rules are deleted with it. Applications no longer find it in their answers. Its evaluation history is kept.",
  rule: "Whom it matched is left to the other rules and the rollout.",
  prompt: "Type the name to confirm",
  done: (name: string) => `${name} is deleted.`,
};
