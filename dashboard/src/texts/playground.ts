import { flags } from "./flags";

export const playground = {
  heading: flags.playground,
  intro: "What many users would get now, and why. Nothing is recorded.",
  users: "Users",
  usersHint:
    "One user id or email per line, or CSV with a header row. Columns other than user_id and user_email are attributes.",
  usersExample: "user-42\ngrace@example.com",
  environments: "Environments",
  flags: "Flags",
  flagsHint: (most: number) => `Up to ${most}. Without a choice, the first ones by key.`,
  flagsNone: "All flags",
  noMatch: "No flag has such a key or name.",
  ask: "Show answers",

  noUsers: "Paste at least one user id or email.",
  tooMuch: "and the ones after it are too long together. Paste fewer users or columns.",
  noHeader:
    "has a separator of columns. CSV needs a first line with the names of the columns, such as user_id,user_email,plan.",
  csv: {
    open: "has a quoted field that is not closed.",
    quote: "has a quotation mark in the wrong place. Quote the whole field, and write each mark inside it twice.",
  },
  wrongCount: (count: number, expected: number) =>
    `has ${count} ${count === 1 ? "field" : "fields"}, but the header has ${expected}.`,
  unnamedColumn: (place: number) => `has no name for column ${place}.`,
  columnTwice: (name: string) => `has the column ${name} twice.`,
  tooLong: (most: number) => `has an id or email of more than ${most.toLocaleString("en")} characters.`,
  tooManyUsers: (most: number, count: number) => `is beyond the limit of ${most} users. These are ${count}.`,
  tooManyAnswers: (most: number, asked: number) =>
    `These are ${asked.toLocaleString("en")} answers, and at most ${most.toLocaleString("en")} are given at once. Choose fewer users, environments or flags.`,
  line: (line: number, message: string) => `Line ${line} ${message}`,
  moreProblems: (count: number) => `and ${count} more`,
  mendLines: "Some lines cannot be read",
  nobody: (line: number) => `No id (line ${line})`,

  show: "Show",
  all: "All answers",
  differences: "Differences",
  from: "From",
  to: "To",
  counted: (users: number, flags: number, environments: number) =>
    `${users} ${users === 1 ? "user" : "users"}, ${flags} ${flags === 1 ? "flag" : "flags"}, ${environments} ${environments === 1 ? "environment" : "environments"}`,
  differing: (count: number, all: number, users: number, flags: number) =>
    `${count} of ${all} answers differ: ${users} ${users === 1 ? "user" : "users"}, ${flags} ${flags === 1 ? "flag" : "flags"}`,
  asOf: (time: string) => `as of ${time}`,
  moreFlags: (count: number) => `These are the first ${count} flags. Choose flags to see others.`,
  noFlagsHeading: "No flags",
  noFlagsText: "These environments have no flags.",
  sameHeading: "No differences",
  sameText: (from: string, to: string) => `${from} and ${to} give these users the same.`,
  exportCsv: "Export as CSV",
  fileName: "playground.csv",
  csvColumns: ["user", "user_email", "flag_key", "environment", "state", "variant", "reason", "rule"],

  grid: "Answers",
  user: "User",
  noFlag: "No flag",
  same: "same",
  pageOf: { users: "Users", flags: "Flags" },
  part: (name: string, from: number, to: number, all: number) => `${name} ${from} to ${to} of ${all}`,
  previous: (name: string) => `Previous ${name.toLowerCase()}`,
  next: (name: string) => `Next ${name.toLowerCase()}`,
  keys: "Arrow keys move between the answers.",

  details: "Details",
  chooseOne: "Choose an answer to see its reason.",
  ofUser: (user: string) => `for ${user}`,
  variant: (key: string) => `variant ${key}`,
  missing: "This environment has no flag with this key.",
  allOfUser: "All about this user",
  openFlag: "Open the flag",
};
