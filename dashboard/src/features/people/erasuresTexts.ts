/** The page for erasures of users; loaded with it. */

export const erasures = {
  heading: "Erasures",
  intro: "Make what is stored about one user of your applications that of nobody. Counts stay as they are.",

  userId: "User id",
  userIdHint: "Exactly as your applications send it.",
  email: "Email",
  emailHint: "Give both if you know both: a record is the user's if it has one of them.",
  preview: "Preview",
  previewHint: "A preview changes nothing.",

  found: "What would be erased",
  nothing: "Nothing is stored about this user. Records that are still on their way would be stored without the user.",
  environment: "Environment",
  evaluations: "Evaluations",
  events: "Events",
  releases: "Releases",
  attributes: "Attributes of evaluations",
  trail: "Changes in the audit trail",
  atLeast: (count: string, more: boolean) => (more ? `at least ${count}` : count),
  attribute: (name: string, count: number) => `${name} (${count.toLocaleString("en")})`,
  namedBy: "Rules and segments that name the user",
  namedByText:
    "They stay as they are until you change them. Then erase the user again, because the change is recorded.",
  moreNamedBy: "There may be more.",
  ruleOf: (key: string) => `Rule of ${key}`,
  segment: (key: string) => `Segment ${key}`,
  named: (environment: string | undefined, attributes: readonly string[]) =>
    [environment, `compares ${attributes.join(", ")}`].filter(Boolean).join(" · "),
  remains: "What stays, and for how long",

  erase: "Erase this user",
  eraseHeading: (name: string) => `Erase ${name}?`,
  eraseText:
    "Evaluations and events become those of nobody, the user is deleted from releases, and replaced in the audit trail. This cannot be undone. Backups keep what they have.",
  requested: "The erasure has begun.",

  earlier: "Erasures of this project",
  none: "No user of this project's applications was erased.",
  when: "Requested",
  user: "User",
  state: "State",
  userText: "The user is not stored. These are digests, which only this instance can make.",
  of: { user_id: "id", user_email: "email" } as Record<string, string>,
  stages: {
    history: "Erasing evaluations, events, releases and the audit trail",
    clickhouse: "Erasing the copy in ClickHouse",
    freed_space: "Overwriting freed space in the database's files",
    done: "Done",
  },
  waits: (problem: string) => `It waits and is tried again every minute: ${problem}`,
  changes: "Changes",
  unfinished: (count: number) => `${count.toLocaleString("en")} not done yet.`,
};
