/** The messages that say what was done and offer to undo it. */

export interface Done {
  readonly name: string;
  readonly enabled: boolean;
  /** The environment, where it would not be clear. */
  readonly where?: string;
}

export const done = {
  switched: ({ name, enabled, where }: Done) =>
    `${name} was turned ${enabled ? "on" : "off"}${where === undefined ? "" : ` in ${where}`}.`,
  changed: ({ name }: Done) => `${name} was changed.`,
  deleted: ({ name }: Done) => `${name} was deleted.`,
  kept: ({ name }: Done) => `${name} is kept.`,
  notKept: ({ name }: Done) => `${name} is no longer kept.`,
  archived: ({ name }: Done) => `${name} was archived.`,
  unarchived: ({ name }: Done) => `${name} was unarchived.`,
  ruleChanged: () => "The rule was changed.",
  ruleDeleted: () => "The rule was deleted.",
  copied: ({ name }: Done) => name,
  rulesMoved: () => "The order of the rules was changed.",
};
