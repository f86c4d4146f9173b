const kinds: Readonly<Record<string, string>> = { flag: "the flag", rule: "a rule", segment: "a segment" };

export const markers = {
  heading: "Changes in this time",
  one: (action: string, flag: string | null, when: string) => {
    const [kind = "", verb = ""] = action.split(".");
    return `Change, ${when}: ${kinds[kind] ?? kind}${flag === null ? "" : ` ${kind === "rule" ? "of " : ""}${flag}`} ${verb}`;
  },
  many: (count: number, from: string, to: string) => `${count} changes between ${from} and ${to}`,
  chart: "Chart",
  chartOf: (change: string) => `Chart around: ${change}`,
  around: (when: string) => `Around ${when}`,
};
