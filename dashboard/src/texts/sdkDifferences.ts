export const sdkDifferences = {
  off: "Differs in local SDKs: off for some users",
  unusual: "Differs in local SDKs, for unusual values",
  intro:
    "Unleash's SDKs evaluate flags inside the application. What they cannot decide is left out there, so that the flag is off for those users. Applications that ask the server are not affected.",
  effects: { off: "Off for some users.", unusual: "Unusual values." },
  label: "Differences in local SDKs",
  reference: "Read them through the API",
};
