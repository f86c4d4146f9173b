export const applications = {
  heading: "Applications",
  intro:
    "Everything that requests flags, the applications that evaluate flags themselves with Unleash's SDKs, and flags that were requested by name.",
  instances: "Instances of Unleash’s SDKs",
  instancesIntro: (current: number, total: number) =>
    `${current.toLocaleString("en")} of ${total.toLocaleString("en")} instances seen in the last hour are up to date.`,
  emptyHeading: "No application has requested flags yet",
  emptyText:
    "Create an SDK key for the environment, and request flags with it: by evaluate, by OFREP, or with one of Unleash's SDKs. Callers appear here within seconds.",
  application: "Application",
  instance: "Instance",
  sdk: "SDK",
  state: "State",
  seen: "Last seen",
  current: "Up to date",
  late: (revision: number) => `Behind, at revision ${revision.toLocaleString("en")}`,
  streams: "gets changes immediately",
  due: (seconds: number) => `next check within ${seconds.toLocaleString("en")} s`,
  reports: "Reported in the last 24 hours",
  reportsIntro: (dropped: number) => {
    const intro = "Counted by the applications, in hours. They do not include users or reasons.";
    if (dropped === 0) return intro;
    return `${intro} ${dropped.toLocaleString("en")} counts are missing, because the applications reported more than are kept.`;
  },
  noReports: "No application has reported anything in the last 24 hours.",
  flag: "Flag",
  yes: "On",
  no: "Off",
  reported: "Last report",
  missing: "Requested but missing",
  missingIntro:
    "Flags that were requested by name in the last 30 days, but are archived or do not exist in this environment.",
  noMissing: "Every flag that was requested exists.",
  archived: " (archived)",
  askedBy: "Requested by",
  evaluatedHere: "the API",
  times: (name: string, count: number) => `${name}, ${count.toLocaleString("en")} ${count === 1 ? "time" : "times"}`,
  asked: "Last requested",
  unasked: "Not requested by name",
  unaskedIntro:
    "No application requested these flags by name in the last 30 days. They may still be in use, because a request for all flags names none of them.",
  noUnasked: "Every flag was requested by name in the last 30 days.",
};
