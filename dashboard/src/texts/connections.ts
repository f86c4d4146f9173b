export const connections = {
  label: "Who has this state",
  server: "The server answers with it at once.",
  all: (total: number) =>
    total === 1
      ? "The only instance of an application that evaluates flags itself has it."
      : `All ${total.toLocaleString("en")} instances of applications that evaluate flags themselves have it.`,
  some: (current: number, total: number) =>
    `${current.toLocaleString("en")} of ${total.toLocaleString("en")} instances of applications that evaluate flags themselves ${current === 1 ? "has" : "have"} it`,
  due: (count: number, seconds: number) =>
    `${count.toLocaleString("en")} ${count === 1 ? "is" : "are"} due within ${seconds.toLocaleString("en")} s`,
  unknown: (count: number) =>
    `${count.toLocaleString("en")} ${count === 1 ? "has not asked" : "have not asked"} when expected`,
};
