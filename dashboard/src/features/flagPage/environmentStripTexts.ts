export const environmentStrip = {
  archived: "Archived",
  missing: "No flag",
  label: "This flag in all environments",
  whenOn: (audience: string) => `When on: ${audience.charAt(0).toLowerCase()}${audience.slice(1)}`,
  notEvaluated: "Not evaluated in 24 hours",
  lastDay: (count: string, share: string) => `${count} in 24 hours, ${share} on`,
};
