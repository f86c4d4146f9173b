/** The callers of flags, on the page of applications and where SDK keys are revoked. */

import type { Caller } from "./callersCalls";

const requests = (count: number) => `${count.toLocaleString("en")} ${count === 1 ? "request" : "requests"}`;

export const callers = {
  heading: "Callers",
  intro:
    "Everything that has requested flags in the last 30 days, by protocol, SDK key, user agent and network. Addresses are kept only as networks.",
  none: "No request has arrived in the last 30 days.",
  noneMatch: "No caller has used this key in the last 30 days.",
  caller: "User agent",
  columns: ["Protocol", "Network", "SDK key", "Per minute", "Last 24 hours", "First use", "Last use"],
  sort: "Sort by",
  sorts: { last: "Last use", rate: "Requests per minute", day: "Requests in 24 hours" },
  filter: "SDK key",
  anyKey: "All keys",
  projectKey: "The project’s key",
  revokedKey: "A revoked key",
  unknownKey: (id: string) => `Key ${id.slice(-12)}`,
  keyName: (name: string, hint: string) => `${name} (…${hint})`,
  noUserAgent: "Without a user agent",
  others: "Others",
  noNetwork: "–",
  protocols: {
    evaluate: "Evaluate",
    ofrep: "OFREP",
    unleash: "Unleash SDK",
    unleash_frontend: "Unleash frontend",
    stream: "Stream",
    events: "Events",
  } satisfies Record<Caller["protocol"], string>,
  /** A caller in a sentence. */
  from: (caller: string, network: string | null, protocol: string) =>
    `${caller}${network === null ? "" : ` from ${network}`} (${protocol})`,
  rate: (perMinute: number, lastDay: number) =>
    perMinute > 0 ? `${perMinute.toLocaleString("en")} per minute` : `${requests(lastDay)} in 24 hours`,
  more: (count: number) => `and ${count.toLocaleString("en")} more`,
};
