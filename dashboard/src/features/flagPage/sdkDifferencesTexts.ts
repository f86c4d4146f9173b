export const sdkDifferences = {
  off: "Off for some users in SDKs that evaluate flags themselves",
  unusual: "SDKs may give a different result for unusual values",
  intro:
    "Unleash's SDKs evaluate flags inside the application. What they cannot decide is left out there, so that the flag is off for those users. Applications that ask the server are not affected.",
  effects: { off: "Off for some users.", unusual: "Unusual values." },
  label: "Differences in local SDKs",
  reference: "Read them through the API",
};
