/** Texts of the list of flags, with its views and favourites. */
export const flagList = {
  favourite: (name: string) => `Favourite: ${name}`,
  notFavourite: (name: string) => `The favourites could not be changed: ${name}`,
  choose: (name: string) => `Choose ${name}`,
  columnChoose: "Choose",
  // Without the flag's name, which its row has: a link of the same name would lead elsewhere.
  changedAt: (when: string) => `${when}: latest changes`,
  favourites: "Favourites",
  views: "Views",
  filters: "Filters",
  filtersActive: "active",
  release: { scheduled: "Release scheduled", running: "Release running", paused: "Release paused" } as Readonly<
    Record<string, string>
  >,
  releaseOf: (flag: string, release: string) => `${flag}: ${release}`,
};
