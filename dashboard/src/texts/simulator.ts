export const simulator = {
  heading: "Try it",
  intro: "See what a user gets, and why. Nothing is recorded.",
  userId: "User id",
  userIdPlaceholder: "user-42",
  userEmail: "Email",
  userEmailPlaceholder: "ada@acme.com",
  attributes: "Attributes",
  attributeName: (number: number) => `Name of attribute ${number}`,
  attributeType: (number: number) => `Type of attribute ${number}`,
  attributeValue: (number: number) => `Value of attribute ${number}`,
  types: { text: "Text", number: "Number", boolean: "True or false", list: "List" },
  namePlaceholder: "plan",
  valuePlaceholders: { text: "pro", number: "42", boolean: "", list: "One element per line" },
  addAttribute: "Add attribute",
  removeAttribute: "Remove attribute",
  removeAttributeOf: (number: number) => `Remove attribute ${number}`,
  attributesNote: "Sent as custom_attributes. Text can also be compared with numbers, times and versions.",
  mustBeNumber: "must be a number, such as 42 or -0.5",
  notAsked: "The attributes are invalid.",
  ask: "Evaluate",
  variant: (variant: string, value: string) => `Variant ${variant}, value ${value}`,
  forNobody: "for a user without an id or email",
  idle: "Leave the fields empty to evaluate for an unknown user.",
  unsaved: "Try this change",
  unsavedInvalid: "The change is not valid yet. See the messages at its fields.",
};

export const trace = {
  label: "Why",
  holds: "Holds:",
  fails: "Does not hold:",
  skipped: "Not reached:",
  isOn: "The flag is on",
  isOff: "The flag is off, so nothing else is checked",
  prerequisites: "Prerequisites",
  prerequisiteIs: { on: "It is on.", off: "It is off." },
  prerequisiteGives: (variant: string) => `It is on with ${variant}.`,
  rules: "Rules",
  rulesNone: "The flag has no rules",
  rulesSkipped: "The rules are not checked",
  status: {
    matched: "Matches and decides",
    not_matched: "Does not match",
    outside_percentage: "Matches, but the user is outside its percentage",
    not_reached: "Not reached",
    disabled: "Disabled",
  },
  others: {
    before: (count: number) => `${count} rules that do not match`,
    after: (count: number) => `${count} ${count === 1 ? "rule" : "rules"} after the decision`,
  },
  segment: (name: string) => `The user is in the segment ${name}`,
  actual: "Actual:",
  missing: "Missing",
  bucket: (bucket: number, percentage: number, isInside: boolean) =>
    `Bucket ${bucket} is ${isInside ? "" : "not "}below ${percentage}`,
  noIdentifier: "The user has no identifier, and is outside every percentage below 100",
  rest: "Everyone else",
  restSkipped: "Everyone else: not reached",
  everyone: "No rule matches, and no rollout is set: on for everyone",
  fallthrough: "No rule matches: off for everyone else",
  inside: (percentage: number) => `No rule matches, and the user is in the ${percentage}% rollout`,
  outside: (percentage: number) => `No rule matches, and the user is not in the ${percentage}% rollout`,
  hashed: (text: string) => `Hashed: ${text}`,
  variant: (key: string) => `The variant is ${key}`,
  variantBy: {
    rule: "The rule gives it.",
    no_identifier: "The user has no identifier, and gets the first variant with a weight.",
  },
  position: (position: number, total: number, from: number, last: number) =>
    `Position ${position} of ${total.toLocaleString("en")} is in its range, ${from} to ${last}.`,
};

export const impact = {
  asking: "Counting the users of the last day whose result would change…",
  incomplete: "Complete the change to see for how many users the result would change.",
  unknown: "No user was recorded in the last day, so it is not known for how many users the result would change.",
  changed: (changed: number, users: number) =>
    changed === 0
      ? `For none of the last day's ${users.toLocaleString("en")} recorded users the result would change.`
      : `For ${changed.toLocaleString("en")} of the last day's ${users.toLocaleString("en")} recorded users the result would change.`,
  turnedOn: (count: number) => `${count.toLocaleString("en")} would get it turned on.`,
  turnedOff: (count: number) => `${count.toLocaleString("en")} would get it turned off.`,
  variantChanged: (count: number) => `${count.toLocaleString("en")} would get another variant or value.`,
  withoutAttributes: (count: number) =>
    `For ${count.toLocaleString("en")} of them it is not known, because their attributes were not recorded.`,
  partly: (when: string) => `Only evaluations since ${when} were examined, because there are many.`,
};
