export const sdkKeys = {
  heading: "SDK keys",
  intro:
    "Applications use SDK keys to request flags. Each key is for one environment. To replace a key, create another one, change the application, and revoke the old one.",
  new: "New SDK key",
  create: "Create SDK key",
  emptyHeading: "No SDK keys yet",
  emptyText: "Create one for each application and environment, so that you can replace and revoke them one by one.",
  namePlaceholder: "Checkout service",
  environment: "Environment",
  kind: "Kind",
  kinds: { server: "Server", browser: "Browser" },
  kindHints: {
    server: "For applications that keep it secret. It can read everything that decides the flags of the environment.",
    browser: "For web pages and apps, where anyone can read it. It only returns results for one user.",
  },
  neverHint: "A key that never expires works until it is revoked.",
  dateMissing: "Choose the last day on which the key works",
  hint: (hint: string) => `Ends in ${hint}`,
  in: (environment: string) => `In ${environment}`,
  createdByNobody: "Created by a deleted account",
  secretHeading: "Copy your new SDK key",
  secretText: (name: string) =>
    `This is the only time that the SDK key ${name} is shown. Store it where the application reads its settings.`,
  secretLabel: "The new SDK key",
  copySecret: "Copy SDK key",
  revokeText: "Applications that use this key get a 401 immediately, and fall back to their defaults.",
  instancesOf: (application: string, count: number) =>
    `${application} (${count.toLocaleString("en")} ${count === 1 ? "instance" : "instances"})`,
  moreApplications: (count: number) => `and ${count.toLocaleString("en")} more`,
  usedBy: (instances: string) => `Used by SDK instances seen in the last hour: ${instances}.`,
  maybeUsedBy: (environment: string, instances: string, keys: number) =>
    `SDK instances seen in ${environment} in the last hour: ${instances}. Which of the environment's ${keys.toLocaleString("en")} keys each of them uses is not recorded.`,
  noInstances: (environment: string) => `No SDK instance was seen in ${environment} in the last hour.`,
  revokeExpiredText: "This key has expired and no longer works. It is removed from the list.",
  changes: "Changes to SDK keys",
  ownHeading: "The project’s key",
  ownText:
    "It works in every environment, but only for evaluate: OFREP and Unleash’s clients need a key of an environment. There is only one, so replacing it interrupts applications until they use the new one.",
  keyNotShown:
    "Your role does not show this key, which requires the permission keys:read in the whole project. An owner or an admin can give you a role that has it.",
  reveal: "Show the key",
  conceal: "Hide the key",
  copyKey: "Copy key",
  regenerate: "Regenerate key",
  regenerateHeading: "Regenerate the SDK key?",
  regenerateText: (name: string) =>
    `Applications that use the current key of ${name} will immediately get a 401 from evaluate in every environment. They fall back to off until they use the new key.`,
  regenerateDo: "Regenerate and revoke the old key",
  regenerated: "The key was regenerated. The old key no longer works.",
};
