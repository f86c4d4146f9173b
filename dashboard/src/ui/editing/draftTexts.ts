export const draft = {
  found: (at: string) => `Unsaved draft from ${at}.`,
  keep: "Keep",
  discard: "Discard",
};
