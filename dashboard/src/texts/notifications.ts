export const notifications = {
  heading: "Mails about projects",
  intro:
    "Changes within a minute are one mail. You never get more than 20 an hour, and none about what you did yourself.",
  none: "You are not a member of a project yet.",
  project: "Project",
  kinds: {
    critical: "Critical environments",
    owned: "My flags",
    stale: "My stale flags",
    webhooks: "Webhooks",
    releases: "Your releases",
  },
  meanings: {
    critical: "Others change what is evaluated in a critical environment.",
    owned: "Others change a flag whose owner is your address, or its rules.",
    stale: "Flags of yours may be removed; once a week.",
    webhooks: "A webhook is switched off, if you may manage webhooks.",
    releases: "A release of yours was stopped, paused, late or failed, a guard raised an alarm, or it is done.",
  },
  choice: (kind: string, project: string) => `${kind}: ${project}`,
  choose: "Choose mails",
  unsubscribe: "Stop these mails",
  unsubscribeText: "You will get no more mails about this project. You can choose mails again in your account.",
  unsubscribed: "You will get no more mails about this project.",
  noToken: "The link is incomplete. Open it again from the mail, or choose your mails in your account.",
  toAccount: "To my account",
};
