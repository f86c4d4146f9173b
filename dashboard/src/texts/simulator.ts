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
