export const common = {
  product: "Flagstaff",
  cancel: "Cancel",
  save: "Save",
  delete: "Delete",
  edit: "Edit",
  close: "Close",
  copy: "Copy",
  copied: "Copied",
  copyCommand: "Copy command",
  copyWithToken: "Copy with my token",
  tokenNote:
    "Replace $FLAGSTAFF_TOKEN with an access token. “Copy with my token” inserts your session's token, which stops working when you sign out.",
  retry: "Try again",
  clearFilters: "Clear filters",
  on: "On",
  off: "Off",
  now: "just now",
  loading: "Loading…",
  optional: "optional",
  or: " or ",
  name: "Name",
  key: "Key",
  description: "Description",
  actions: "Actions",
};

export const apiReturnsMore = (count: number) => `The API returns ${count.toLocaleString("en")} more.`;
