export const markers = {
  heading: "Changes in this period",
  one: (who: string, verb: string, flag: string | null, when: string) =>
    `${when}: ${who} ${verb}${flag === null ? "" : ` ${flag}`}`,
  many: (count: number, from: string, to: string) => `${count} changes between ${from} and ${to}`,
  chart: "Chart",
  chartOf: (change: string) => `Chart around: ${change}`,
  around: (when: string) => `Around ${when}`,
};
