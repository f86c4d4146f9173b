export const notifications = {
  heading: "Emails about projects",
  intro:
    "Changes within a minute are combined into one email. You get at most 20 emails an hour, and none about your own changes.",
  none: "You are not a member of any project yet.",
  project: "Project",
  kinds: {
    critical: "Critical environments",
    owned: "My flags",
    stale: "My stale flags",
    webhooks: "Webhooks",
    releases: "Your releases",
    mentions: "Mentions",
    subscribed: "Subscriptions",
  },
  meanings: {
    critical: "Others change what is evaluated in a critical environment.",
    owned: "Others change a flag whose owner is your address, or its rules.",
    stale: "Flags that you own can be cleaned up. Sent once a week.",
    webhooks: "A webhook that you can manage is turned off.",
    releases:
      "Your release is paused, stopped, late, failed or done, or one of its guards raises an alarm. To its author and owners of the project: it cannot be watched.",
    mentions: "Others mention you in a comment.",
    subscribed: "Others change what you have subscribed to.",
  },
  choice: (kind: string, project: string) => `${kind}: ${project}`,
  choose: "Choose emails",
  unsubscribe: "Stop these emails",
  unsubscribeText: "You will get no more emails about this project. You can choose emails again in your account.",
  unsubscribed: "You will get no more emails about this project.",
  noToken: "The link is incomplete. Open it again from the email, or choose your emails in your account.",
  toAccount: "To my account",
};
