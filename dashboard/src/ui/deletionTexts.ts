/** The questions before a deletion, which say what else is deleted; loaded with the dialogs. */

export const deletion = {
  heading: (name: string) => `Delete ${name}?`,
  project:
    "Its environments, flags, rules and evaluation history are deleted permanently. Applications that use its SDK keys will get a 401.",
  environment:
    "Its flags, rules, SDK keys and evaluation history are deleted permanently. Applications that request it will get an error.",
  flag: "Its rules are deleted too, and its key can be used for another flag. Its evaluation history is kept.",
  segment: "Rules can no longer refer to it. A segment that is used by a rule cannot be deleted.",
  prompt: "Type the name to confirm",
  done: (name: string) => `${name} was deleted.`,
};
