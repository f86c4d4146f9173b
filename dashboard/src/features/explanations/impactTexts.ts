/** The number of users whose result a change would change. */

const seen = (users: number) =>
  `${users.toLocaleString("en")} ${users === 1 ? "user" : "users"} seen in the last 24 hours`;

const listed = (effects: readonly string[]) => (effects.length > 0 ? `: ${effects.join(", ")}` : "");
const alternatives = (names: readonly string[]) => new Intl.ListFormat("en", { type: "disjunction" }).format(names);

export const impact = {
  asking: "Counting the users of the last 24 hours whose result would change…",
  incomplete: "Complete the change to see how many users it affects.",
  unknown: "No user was seen in the last 24 hours, so it is not known how many users the change affects.",
  changed: (changed: number, users: number, effects: readonly string[]) =>
    changed === 0
      ? `Would not change the result for any of the ${seen(users)}.`
      : `Would change the result for ${changed.toLocaleString("en")} of ${seen(users)}${listed(effects)}.`,
  atLeast: (changed: number, users: number, effects: readonly string[]) =>
    `Would change the result for at least ${changed.toLocaleString("en")} of ${seen(users)}${listed(effects)}.`,
  turnedOn: (count: number) => `${count.toLocaleString("en")} turned on`,
  turnedOff: (count: number) => `${count.toLocaleString("en")} turned off`,
  variantChanged: (count: number) => `${count.toLocaleString("en")} with another variant or value`,
  allUnknown: (users: number, attributes: readonly string[]) =>
    `Unknown: ${alternatives(attributes)} was not recorded for any of ${seen(users)}.`,
  someUnknown: (count: number, attributes: readonly string[]) =>
    `For ${count.toLocaleString("en")} nobody can say: ${alternatives(attributes)} was not recorded.`,
  partly: (when: string) => `Only evaluations since ${when} were examined, because there are many.`,
};
