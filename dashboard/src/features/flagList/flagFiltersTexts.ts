/** The texts of the folded filters of the flag list. */
export const flagFilters = {
  state: "State",
  all: "All",
  target: "Audience",
  targets: { any: "Any audience", everyone: "Everyone", rollout: "Rollout", rules: "With rules", only: "Rules only" },
  seen: "Evaluated",
  seens: { any: "Evaluated or not", day: "Evaluated in the last day", quiet: "Not evaluated in the last day" },
  sort: "Sort",
  sorts: { newest: "Newest first", name: "By name", changed: "Recently changed", evaluated: "Most evaluated" },
  anyTag: "Any tag",
  anyOwner: "Any owner",
  tag: "Tag",
  owner: "Owner",
};
