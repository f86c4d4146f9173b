/** The comments on a flag, a release or a change; loaded with them. */

export const comments = {
  heading: "Comments",
  intro: "Members of the project see them. Type @ to mention a member, who gets an email.",
  none: "No comments yet.",
  earlier: "Show earlier comments",
  label: "Comment",
  placeholder: "Write a comment",
  members: "Members to mention",
  send: "Comment",
  save: "Save",
  edited: "edited",
  actionsOf: (author: string) => `Actions for the comment by ${author}`,
  deleteHeading: "Delete this comment?",
  deleteOwn: "It is deleted for everyone.",
  deleteOther: (author: string) =>
    `It is deleted for everyone, including ${author}. The audit trail records that you deleted it.`,
  ofChange: (count: number) => (count === 0 ? "Comment" : count === 1 ? "1 comment" : `${count} comments`),
  onChange: "Comments on a change",
};
