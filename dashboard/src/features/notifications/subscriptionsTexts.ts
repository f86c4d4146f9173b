/** Subscriptions to mails about changes; loaded where they are chosen. */

export const subscriptions = {
  dialog: "Get emails about changes",
  dialogText: "You get an email when others change what you choose here, and none about your own changes.",
  all: "All your subscriptions are in your account",
  targets: {
    flag: (name: string) => `The flag ${name}, in this environment`,
    environment: (name: string) => `Every flag in ${name}`,
    tag: (tag: string) => `Every flag with the tag ${tag}, in all environments`,
  },
  refused: "The subscription was not changed",
  heading: "Subscriptions",
  intro:
    "You get an email when others change one of these. Subscribe on the page of a flag, or in the list of an environment’s flags.",
  none: "You have no subscriptions.",
  kinds: { flag: "Flag", tag: "Tag", environment: "Environment" },
  inEnvironment: (key: string) => `in ${key}`,
  deleted: "deleted",
  remove: "Remove",
  removeOf: (what: string) => `Remove the subscription to ${what}`,
};
