export const emailVerification = {
  heading: "Verify your address",
  text: "You will get the emails that are chosen in your account.",
  verify: "Verify the address",
  verified: "Your address is verified.",
  noToken: "The link is incomplete. Open it again from the email, or ask for a new link in your account.",
  toAccount: "To my account",
  unverified: "You get no emails about projects until you verify your address.",
  send: "Send a link",
  sent: (email: string) => `A link was sent to ${email}. Open it within a day.`,
  notSent: "The link was not sent",
};
