/** The page of the instances; loaded with it. */

export const servingInstances = {
  intro: "The processes that serve from this database. The figures are a few seconds old.",
  none: "No instance is known",
  noneText: "The database lists no instance at the moment. This page checks again every few seconds.",
  well: (all: number) => (all === 1 ? "1 instance is healthy." : `All ${all} instances are healthy.`),
  attention: (count: number, all: number) =>
    count === 1 ? `1 of ${all} instances needs attention.` : `${count} of ${all} instances need attention.`,
  answered: "answered this request",
  started: "started",
  workers: (count: number) => (count === 1 ? "1 process" : `${count} workers`),
  state: "State",
  states: { live: "Live", leaving: "Stopping", lapsed: "Not responding", none: "Serves alone" },
  otherKeyTag: "Other secret key",
  behindTag: "Behind",
  busyTag: "Slow event loop",
  explained: {
    lapsed:
      "Its lease has lapsed: it is cut off from the database or has stopped unexpectedly. Evaluations there may be stale.",
    otherKey:
      "Its secret key differs from that of the instance that answered, which refuses its sessions. Set FLAGSTAFF_SECRET_KEY to the same key in all instances.",
    behind: "It has not loaded the newest changes. See /ready and the log of this instance.",
    busy: "Requests to this instance have to wait. Check its load, or add instances.",
  },
  lease: "Lease",
  expires: (seconds: number) => `renewed, ${seconds.toFixed(1)} s left`,
  lapsedFor: (seconds: number) => `lapsed ${span(seconds)} ago`,
  serves: "Serves",
  upTo: (change: number) => `every change up to ${change.toLocaleString("en")}`,
  behind: (change: number, count: number, seconds: number) =>
    `changes up to ${change.toLocaleString("en")}; ${count === 1 ? "1 change" : `${count >= 1000 ? "1,000 or more" : count} changes`} behind, for ${span(seconds)}`,
  unknown: "not known",
  evaluations: "Evaluations/s",
  cpu: "Processor",
  cores: (cpu: number) => `${Math.round(cpu * 100)}% of a core`,
  lag: "Event loop lag",
  milliseconds: (seconds: number) => `${Math.round(seconds * 1000)} ms`,
  connections: "Connections",
  streams: "Streams",
  memory: "Memory",
  megabytes: (bytes: number) => `${Math.round(bytes / 1e6).toLocaleString("en")} MB`,
  noLoad: "It has not reported its load.",
};

function span(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3_600)} h`;
}
