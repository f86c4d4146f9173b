/** Who cares for a flag, and whether it stays. */
export const care = {
  owner: "Owner",
  ownerHint: "The person or the team to ask about this flag.",
  keep: "Keep this flag",
  keepHint: "It is meant to stay, so it is not among the flags to clean up.",
  ownedBy: (owner: string) => `Owner: ${owner}`,
  kept: "To be kept",
};
