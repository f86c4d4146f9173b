import type { Action } from "../../api/changesFilter";

type Kind = Action extends `${infer First}.${string}` ? First : never;

const kinds = {
  flag: "Flag",
  rule: "Rule",
  segment: "Segment",
  metric: "Metric",
  release: "Release",
  comment: "Comment",
  view: "View",
  pinned_chart: "Pinned chart",
  project: "Project",
  environment: "Environment",
  sdk_key: "SDK key",
  webhook: "Webhook",
  erasure: "Erasure of a user",
  member: "Member",
  invitation: "Invitation",
  token: "Access token",
} satisfies Record<Kind, string>;

/** The pages of changes: an environment's, and a whole project's. */
export const changesPage = {
  actionName: (action: Action) => {
    const [kind, verb = ""] = action.split(".");
    return `${kinds[kind as Kind]} ${verb.replaceAll("_", " ")}`;
  },
  heading: "Changes",
  ofEnvironment:
    "Who changed this environment, its flags, and what it shares with others, with the values before and after.",
  ofProject: "All changes in this project, including changes to what has been deleted.",
  scope: "Changes of",
  project: "Whole project",
  period: "Time",
  periods: { all: "All", hour: "Last hour", day: "Last 24 hours", week: "Last 7 days", between: "Between…" },
  filters: (active: number) => (active === 0 ? "Filters" : `Filters (${active})`),
  actor: "Who (email or id)",
  action: "What",
  actionAny: "Any change",
  flag: "Flag key",
  environment: "Environment",
  environmentAny: "Any environment",
  since: "From",
  until: "To",
  zone: (offset: string) => `Times are in your time zone, ${offset}.`,
  noMatch: "No changes match these filters",
  noMatchText: "Change or clear the filters.",
  exportCsv: "Export as CSV",
  fileName: "changes.csv",
  notExported: "The changes could not be exported",
};
