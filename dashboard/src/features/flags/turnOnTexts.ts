/** The question before flags are turned on in a critical environment. */
export const turnOn = {
  heading: (flag: string, count: number, environment: string) =>
    `Turn on ${count === 1 ? flag : `${count.toLocaleString("en")} flags`} in ${environment}?`,
  text: "This affects your users immediately. You can turn it off again without confirmation.",
  turnsOn: (count: number, environment: string) =>
    `This turns on ${count === 1 ? "a flag" : `${count.toLocaleString("en")} flags`} in ${environment}, which affects your users immediately.`,
  users: "Affected users",
  action: "Turn on",
  create: "Create and turn on",
  newFlag: "The flag is not evaluated yet, so its result is new for every user.",
  notCounted: (reason: string) => `The affected users could not be counted: ${reason}`,
  moreNotCounted: (count: number) => `The users of ${count.toLocaleString("en")} more are not counted.`,
};

const environments = (names: readonly string[]) => new Intl.ListFormat("en", { type: "conjunction" }).format(names);

/** The question before a flag is turned off in several environments. */
export const turnOff = {
  heading: (flag: string) => `Turn off ${flag} in all environments?`,
  consequence: (names: readonly string[]) =>
    names.length === 0
      ? "It is off in all environments that you may change."
      : `It is turned off in ${environments(names)}. Its rules are kept.`,
  action: "Turn off",
  everywhere: "Turn off everywhere…",
};
