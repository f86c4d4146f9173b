export const connections = {
  label: "Who has received this state",
  server: "Live on the server.",
  all: (total: number) =>
    total === 1 ? "Received by the only SDK instance." : `Received by all ${total.toLocaleString("en")} SDK instances.`,
  some: (current: number, total: number) =>
    `Received by ${current.toLocaleString("en")} of ${total.toLocaleString("en")} SDK instances`,
  due: (count: number, seconds: number) =>
    `${count.toLocaleString("en")} ${count === 1 ? "is" : "are"} due within ${seconds.toLocaleString("en")} s`,
  overdue: (count: number) => `${count.toLocaleString("en")} ${count === 1 ? "is" : "are"} overdue`,
};
