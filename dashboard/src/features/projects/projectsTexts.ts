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
    "Each environment has its own flags. Your application sends its key, which cannot be changed later. All members see the environments in this order.",
  environmentPlaceholder: "Canary",
  environmentCreate: "Create environment",
  environmentNew: "New environment",
  environmentEdit: "Edit environment",
  critical: "Critical",
  criticalHint:
    "Mistakes here affect users. The environment is highlighted, and turning a flag on asks for confirmation.",
  keptDays: "Days of history",
  keptInProject:
    "Evaluations and events that are older are deleted within minutes, and cannot be restored. Empty: as long as this server keeps them.",
  keptInEnvironment:
    "Evaluations and events that are older are deleted within minutes, and cannot be restored. Empty: as long as in the project.",
  environmentKeyHint: "Lowercase letters, digits, _ and -",
  environmentDrag: "Drag to reorder",
  environmentPlace: (name: string, place: number, count: number) => `${name} is now ${place} of ${count}.`,
  environmentOrderFailed: "The environments could not be reordered",
  moveUp: "Move up",
  moveDown: "Move down",
  moveUpOf: (name: string) => `Move ${name} up`,
  moveDownOf: (name: string) => `Move ${name} down`,
  editOf: (name: string) => `Edit ${name}`,
  deleteOf: (name: string) => `Delete ${name}`,
  flagsOf: (name: string) => `Flags of ${name}`,
  usersData: "Users' data",
  usersDataText: "What is stored about a user of your applications can be erased when the user demands it.",
  eraseUser: "Erase a user",
  danger: "Delete this project",
  dangerText:
    "Its environments, flags, rules and evaluation history are deleted permanently, and its SDK keys stop working.",
  deleteProject: "Delete project",
  environmentNone: "There are no environments. Create one to add flags.",
};
