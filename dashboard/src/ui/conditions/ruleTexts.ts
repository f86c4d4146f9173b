/** What a rule matches by. */
export const ruleTexts = {
  types: {
    user_id: "User id",
    user_email: "Email",
    email_domain: "Email domain",
    segment: "Segment",
    attributes: "Attributes",
  },
  sentence: {
    user_id: "If the user id is",
    user_email: "If the email is",
    email_domain: "If the email's domain is",
    segment: "If the user is in the segment",
    attributes: "If ",
  },
  forEveryone: "For every user",
};
