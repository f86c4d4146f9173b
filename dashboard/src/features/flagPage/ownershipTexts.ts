/** The owner of a flag, and whether the flag is permanent. */
export const ownership = {
  owner: "Owner",
  ownerHint: "The person or the team to ask about this flag.",
  keep: "Keep this flag",
  keepHint: "A flag that is meant to stay. It is not listed under Clean up.",
  ownedBy: (owner: string) => `Owner: ${owner}`,
  kept: "Kept",
};
