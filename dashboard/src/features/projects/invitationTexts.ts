/** The page that accepts an invitation; loaded with it. */

export const invitation = {
  heading: "You are invited to a project",
  headingOf: (project: string) => `You are invited to ${project}`,
  by: (inviter: string, role: string) => `${inviter} has invited you as ${role}.`,
  roles: { owner: "an owner", admin: "an admin", editor: "an editor", viewer: "a viewer" } as Record<string, string>,
  signedInAs: (email: string) => `You are signed in as ${email}.`,
  forAnother: (invited: string, email: string) =>
    `This invitation was sent to ${invited}, and you are signed in as ${email}. To accept it, sign in as ${invited}, or ask for an invitation to ${email}.`,
  accept: "Accept the invitation",
  otherAccount: "Use another account",
  joinText: "Create an account to accept the invitation, or sign in if you have one.",
  emailHint: "The address to which the invitation was sent",
  join: "Create account and join",
  noToken: "To open this page, use the link in the invitation email. If it no longer works, ask for a new invitation.",
  invalid: "This link has been used, replaced or revoked, or has expired. Ask for a new invitation.",
  invalidFor: (email: string) =>
    `This link cannot be used by ${email}. It was sent to another address, or it has been used, replaced or revoked, or has expired. Use the account with the invited address, or ask for a new invitation.`,
};
