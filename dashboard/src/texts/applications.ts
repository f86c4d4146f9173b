export const applications = {
  heading: "Applications",
  intro: "Applications that evaluate flags themselves, with Unleash's SDKs, and the flags that are asked for by name.",
  more: (count: number) => `${count.toLocaleString("en")} more are in the answers of the API.`,
  instances: "Instances",
  instancesIntro: (current: number, total: number) =>
    `${current.toLocaleString("en")} of ${total.toLocaleString("en")} heard of in the last hour have the present state.`,
  emptyHeading: "No application evaluates flags itself",
  emptyText:
    "Point one of Unleash's SDKs at this server, with an SDK key of the environment. Its instances appear here within seconds. Applications that ask the server to evaluate are in the history.",
  application: "Application",
  instance: "Instance",
  sdk: "SDK",
  state: "State",
  seen: "Last heard of",
  current: "Present state",
  late: (revision: number) => `Revision ${revision.toLocaleString("en")}`,
  streams: "told at once",
  due: (seconds: number) => `asks within ${seconds.toLocaleString("en")} s`,
  reports: "Reported in the last 24 hours",
  reportsIntro: (dropped: number) => {
    const intro = "Counted by the applications, in hours. They do not say for whom a flag was on, nor why.";
    if (dropped === 0) return intro;
    return `${intro} ${dropped.toLocaleString("en")} counts are missing, because the applications reported more different ones than are kept.`;
  },
  noReports: "No application has reported anything in the last 24 hours.",
  flag: "Flag",
  yes: "On",
  no: "Off",
  reported: "Last report",
  missing: "Asked for, but not here",
  missingIntro:
    "Flags that do not exist in this environment or are archived, but were asked for by name in the last 30 days.",
  noMissing: "Every flag that was asked for exists.",
  archived: " (archived)",
  askedBy: "Asked for by",
  evaluatedHere: "the API",
  times: (name: string, count: number) => `${name}, ${count.toLocaleString("en")} ${count === 1 ? "time" : "times"}`,
  asked: "Last asked for",
  unasked: "Not asked for by name",
  unaskedIntro:
    "Nobody asked for these flags by name in the last 30 days. They may still be in use: a request for all flags asks for none of them by name.",
  noUnasked: "Every flag was asked for by name in the last 30 days.",
};
