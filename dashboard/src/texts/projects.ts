export const projects = {
  heading: "Projects",
  new: "New project",
  create: "Create project",
  namePlaceholder: "Web shop",
  emptyHeading: "Create your first project",
  emptyText:
    "A project stands for one application. It starts with two environments, Production and Staging, and one SDK key for both.",
  emptyCurl: "Or use the API",
  search: "Find a project",
  none: (query: string) => `No projects match “${query}”.`,
  created: "Created",
};

export const settings = {
  heading: "Project settings",
  general: "General",
  saved: "Saved",
  environments: "Environments",
  environmentsText:
    "Each environment has its own flags. Your application sends its key, which cannot be changed later.",
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
  dangerText:
    "Its environments, flags, rules and evaluation history are deleted permanently, and its SDK keys stop working.",
  deleteProject: "Delete project",
  environmentNone: "There are no environments. Create one to add flags.",
};

export const deletion = {
  heading: (name: string) => `Delete ${name}?`,
  project:
    "Its environments, flags, rules and evaluation history are deleted permanently. Applications that use its SDK keys will get a 401.",
  environment:
    "Its flags, rules, SDK keys and evaluation history are deleted permanently. Applications that request it will get an error.",
  flag: "Its rules are deleted too, and its key can be used for another flag. Its evaluation history is kept.",
  segment: "Rules can no longer refer to it. A segment that is used by a rule cannot be deleted.",
  rule: "The users it matched will be evaluated by the other rules and the rollout.",
  prompt: "Type the name to confirm",
  done: (name: string) => `${name} was deleted.`,
};
