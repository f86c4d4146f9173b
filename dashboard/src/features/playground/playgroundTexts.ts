import { shellTexts } from "../../ui/shellTexts";

export const playground = {
  heading: shellTexts.playground,
  intro: "See what many users would get now, and why. Nothing is recorded.",
  users: "Users",
  usersHint:
    "One user id or email per line, or CSV with a header row. Columns other than user_id and user_email are attributes.",
  usersExample: "user-42\ngrace@example.com",
  environments: "Environments",
  flags: "Flags",
  flagsHint: (most: number) => `Up to ${most}. Without a choice, the first ones by key.`,
  flagsNone: "All flags",
  noMatch: "No flag has such a key or name.",
  ask: "Show results",

  noUsers: "Paste at least one user id or email.",
  tooMuch: "and the lines after it are too long in total. Paste fewer users or columns.",
  noHeader:
    "contains a column separator. CSV needs a first line with the column names, such as user_id,user_email,plan.",
  csv: {
    open: "has a quoted field that is not closed.",
    quote: "has a quotation mark in the wrong place. Quote the whole field, and write each mark inside it twice.",
  },
  wrongCount: (count: number, expected: number) =>
    `has ${count} ${count === 1 ? "field" : "fields"}, but the header has ${expected}.`,
  unnamedColumn: (place: number) => `has no name for column ${place}.`,
  columnTwice: (name: string) => `has the column ${name} twice.`,
  tooLong: (most: number) => `has an id or email of more than ${most.toLocaleString("en")} characters.`,
  tooManyUsers: (most: number, count: number) => `exceeds the limit of ${most} users. There are ${count}.`,
  tooManyAnswers: (most: number, asked: number) =>
    `There would be ${asked.toLocaleString("en")} results, and at most ${most.toLocaleString("en")} are shown at once. Choose fewer users, environments or flags.`,
  line: (line: number, message: string) => `Line ${line} ${message}`,
  moreProblems: (count: number) => `and ${count} more`,
  mendLines: "Some lines cannot be read",
  nobody: (line: number) => `No id (line ${line})`,

  show: "Show",
  all: "All results",
  differences: "Differences",
  from: "From",
  to: "To",
  counted: (users: number, flags: number, environments: number) =>
    `${users} ${users === 1 ? "user" : "users"}, ${flags} ${flags === 1 ? "flag" : "flags"}, ${environments} ${environments === 1 ? "environment" : "environments"}`,
  differing: (count: number, all: number, users: number, flags: number) =>
    `${count} of ${all} results differ: ${users} ${users === 1 ? "user" : "users"}, ${flags} ${flags === 1 ? "flag" : "flags"}`,
  asOf: (time: string) => `as of ${time}`,
  moreFlags: (count: number) => `These are the first ${count} flags. Choose flags to see others.`,
  noFlagsHeading: "No flags",
  noFlagsText: "These environments have no flags.",
  sameHeading: "No differences",
  sameText: (from: string, to: string) => `${from} and ${to} give these users the same results.`,
  exportCsv: "Export as CSV",
  fileName: "playground.csv",
  csvColumns: ["user", "user_email", "flag_key", "environment", "state", "variant", "reason", "rule"],

  grid: "Results",
  user: "User",
  noFlag: "No flag",
  same: "same",
  pageOf: { users: "Users", flags: "Flags" },
  part: (name: string, from: number, to: number, all: number) => `${name} ${from} to ${to} of ${all}`,
  previous: (name: string) => `Previous ${name.toLowerCase()}`,
  next: (name: string) => `Next ${name.toLowerCase()}`,
  keys: "Arrow keys move between the results.",

  details: "Details",
  chooseOne: "Choose a result to see its reason.",
  ofUser: (user: string) => `for ${user}`,
  variant: (key: string) => `variant ${key}`,
  missing: "This environment has no flag with this key.",
  allOfUser: "More about this user",
  openFlag: "Open the flag",
};
