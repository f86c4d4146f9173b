/** The page that accepts an invitation; loaded with it. */

export const invitation = {
  heading: "You are invited to a project",
  signedInAs: (email: string) => `You are signed in as ${email}.`,
  accept: "Accept the invitation",
  otherAccount: "Use another account",
  joinText: "Create an account to accept the invitation, or sign in if you have one.",
  emailHint: "The address to which the invitation was sent",
  join: "Create account and join",
  noToken: "To open this page, use the link in the invitation email. If it no longer works, ask for a new invitation.",
  invalidFor: (email: string) =>
    `This link cannot be used by ${email}. It was sent to another address, or it has been used, replaced or revoked, or has expired. Use the account with the invited address, or ask for a new invitation.`,
};
