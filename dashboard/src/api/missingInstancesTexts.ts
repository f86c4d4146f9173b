export const liveOn = {
  notEverywhere: (live: number, known: number) =>
    `The change is live on ${live.toLocaleString("en")} of ${known.toLocaleString("en")} instances`,
  missing: (names: string) =>
    `Not heard from: ${names}. If it still runs, it is cut off from the database and may answer with the previous state.`,
};
