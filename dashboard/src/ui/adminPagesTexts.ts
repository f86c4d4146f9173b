/** The links to the pages for administrators, and their refusals. */

export const adminPagesTexts = {
  heading: "Administration",
  forbidden: "Only for administrators",
  forbiddenDetail:
    "Your account is not an administrator of this instance. Ask one of its administrators, or its operator.",
  accounts: "Accounts",
  projects: "Projects",
  instance: "Instance",
  instances: "Instances",
  settings: "Settings",
  webhooks: "Webhooks",
  changes: "Changes",
};
