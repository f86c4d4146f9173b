/** The question before a flag is turned on in a critical environment. */
export const turnOn = {
  heading: (flag: string, environment: string) => `Turn on ${flag} in ${environment}?`,
  text: "This affects your users immediately. You can turn it off again without confirmation.",
  action: "Turn on",
  notCounted: (reason: string) => `The affected users could not be counted: ${reason}`,
};
