export const palette = {
  placeholder: "Go to a flag, environment or project…",
  label: "Command palette",
  nothing: "Nothing found",
  pages: "Pages",
  flags: "Flags",
  environments: "Environments",
  projects: "Projects",
  appearance: "Appearance",
  adminPage: (page: string) => `Administration: ${page}`,
  schemeAction: (scheme: string) => `Use ${scheme} appearance`,
};
