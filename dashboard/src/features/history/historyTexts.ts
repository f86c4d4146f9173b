export const historyTexts = {
  when: "When",
  who: "Who",
  what: "Result",
  whatAndWhy: "Results and reasons",
  attributes: (count: number) => `${count} ${count === 1 ? "attribute" : "attributes"}`,
  attributesRecorded: "Recorded attributes",
  why: "Why",
  variant: (variant: string) => `variant ${variant}`,
  ruleGone: (id: string) => `Deleted rule ${id}`,
  anonymous: "Unknown user",
  counts: (on: number, off: number) => `${on} on, ${off} off`,
  showFlags: "Show the results of all flags",
  evaluation: (flags: number, shown: number) =>
    flags > shown ? `All ${flags.toLocaleString("en")} results of this evaluation` : "Open this evaluation",
};

export const usersTexts = {
  heading: "Users",
  day: "Day (UTC)",
  variant: "Variant",
  byVariant: "By variant, on all of these days",
  rule: "Rule",
  byRule: "By rule, on all of these days",
  all: (days: number, on: string, off: string) =>
    `Users in the last ${days} days: ${on} had this flag on, and ${off} had it off.`,
  unknownAll: (days: number) => `The users of the last ${days} days are still being counted.`,
  unknown: "Still being counted",
  none: "No user was recorded in the last 7 days.",
  exact: "The numbers are exact.",
  estimated: (error: string) =>
    `Numbers with ≈ are estimates with a standard error of ${error}%; the other numbers are exact.`,
  note: "A user who had the flag on and later off is counted in both. Evaluations without a user are not counted. Users are counted by days in UTC, whatever time zone charts have.",
};
