export const rolesTexts = {
  roles: { owner: "Owner", admin: "Admin", editor: "Editor", viewer: "Viewer" },
  roleIn: (role: string, environment: string) => `${role} in ${environment}`,
  oneOf: { owner: "an owner", admin: "an admin", editor: "an editor", viewer: "a viewer" },
  inProject: "in the whole project",
  inEnvironment: (name: string) => `in the environment ${name}`,
  forbidden: (permission: string, place: string, granters: string) =>
    `This requires the permission ${permission} ${place}, which your role does not have. ${granters} can give you a role that has it.`,
};
