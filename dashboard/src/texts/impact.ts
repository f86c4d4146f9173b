/** For how many users a change would matter. */

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
