const counted = (count: number, one: string) => `${count.toLocaleString("en")} ${one}${count === 1 ? "" : "s"}`;

/** Changes that one operation made together. */
export const changeBatches = {
  flags: (count: number) => counted(count, "flag"),
  copied: "copied",
  restored: "restored",
  from: (origin: string) => ` from ${origin}`,
  to: (environment: string) => `to ${environment}`,
  resources: (count: number) => counted(count, "resource"),
  show: (loaded: number, count: number) =>
    loaded === count ? `Show ${counted(count, "change")}` : `Show ${loaded} of ${counted(count, "change")}`,
  restoreAll: "Restore all…",
  restoreAllOf: (entry: string) => `Restore all: ${entry}`,
};
