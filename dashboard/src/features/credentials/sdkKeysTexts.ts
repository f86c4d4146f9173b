const SHOWN_ORIGINS = 3;

export const sdkKeys = {
  heading: "SDK keys",
  intro:
    "Applications use SDK keys to request flags. Each key is for one environment. To replace a key without an interruption, rotate it.",
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
  origins: "Allowed origins",
  originsHint:
    "Only pages at these origins may use the key. https://*.example.com stands for all names with one more part. If there is none, every page may use it. This does not keep the key secret.",
  originsPlaceholder: "https://shop.example.com",
  onlyFrom: (origins: readonly string[]) => {
    const shown = origins.slice(0, SHOWN_ORIGINS).join(", ");
    const more = origins.length - SHOWN_ORIGINS;
    return `For pages at ${shown}${more > 0 ? ` and ${more} more` : ""}`;
  },
  edit: (name: string) => `Edit ${name}`,
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
  users: "Used in the last 24 hours by:",
  noUsers: "No caller has used this key in the last 24 hours.",
  usersNotKnown: (reason: string) => `The callers of this key cannot be shown: ${reason}`,
  lastly: "last",
  revokeExpiredText: "This key has expired and no longer works. It is removed from the list.",
  changes: "Changes to SDK keys",
  ownHeading: "The project’s key",
  ownText:
    "Works in every environment, only with POST /sdk/v1/evaluate. OFREP and Unleash’s clients need a key of an environment. Replacing it interrupts applications until they use the new one.",
  keyNotShown:
    "Your role does not allow you to see this key. This requires the permission keys:read in the whole project. An owner or an admin can give you a role that has it.",
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

/** The assistant that replaces a key. */
export const rotation = {
  rotate: "Rotate…",
  rotateOf: (name: string) => `Rotate ${name}`,
  heading: (name: string) => `Rotate ${name}`,
  text: (kind: string, environment: string) =>
    `This creates a new key of the kind ${kind} for ${environment}. Both keys work until you revoke the old one, so applications are not interrupted.`,
  create: "Create the new key",
  whereTo: (hint: string) => `Replace the key ending in ${hint} with it in every application.`,
  next: "I have stored the new key",
  moveHeading: (name: string) => `Move applications from ${name}`,
  moveText:
    "Give applications the new key, and watch here who still uses the old one. You can close this: the list of keys shows it as well.",
  newKey: "New key",
  oldKey: "Old key",
  named: (which: string, hint: string) => `${which}, ends in ${hint}`,
  later: "Close, revoke later",
  revokeOld: "Revoke the old key…",
  stillUsed: "The old key is still in use, last",
  stillUsedText:
    "If you revoke it now, applications that use it get a 401 immediately, and fall back to their defaults.",
  unused: "The old key has not been used in the last 24 hours. You can revoke it.",
  replaces: (name: string, hint: string) => `Replaces ${name} (ends in ${hint}), which`,
  wasNeverUsed: "was never used",
  wasUsed: "was used",
  by: (caller: string) => ` by ${caller}`,
  finish: "Finish rotation",
  finishOf: (name: string) => `Finish rotation to ${name}`,
};
