/** The texts of favourites, choices and filters in the flag list. */
export const flagList = {
  subscribe: "Subscribe",
  favourite: (name: string) => `Favourite: ${name}`,
  notFavourite: (name: string) => `The favourites could not be changed: ${name}`,
  choose: (name: string) => `Choose ${name}`,
  columnChoose: "Choose",
  anyTag: "Any tag",
  anyOwner: "Any owner",
  tag: "Tag",
  owner: "Owner",
  onlyTag: (tag: string) => `Only flags with the tag ${tag}`,
  favourites: "Favourites",
  views: "Views",
  release: { scheduled: "Release scheduled", running: "Release running", paused: "Release paused" } as Readonly<
    Record<string, string>
  >,
  releaseOf: (flag: string, release: string) => `${flag}: ${release}`,
  openReleases: "Open releases",
};
