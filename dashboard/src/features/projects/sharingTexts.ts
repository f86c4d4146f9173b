export const sharing = {
  heading: "Webhooks of the instance",
  text: "Administrators can send changes of all projects to a program or a chat.",
  label: "Share the contents of changes with webhooks of the instance",
  effect:
    "Without it, their messages say what was changed, by whom and when, but have no names, rules or values, unless the webhook's owner is a member of this project.",
  begun: "The project now shares the contents of its changes.",
  ended: "The project no longer shares the contents of its changes.",
  failed: "The setting could not be changed",
};
