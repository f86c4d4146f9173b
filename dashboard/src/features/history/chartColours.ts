/** The colours of a chart's parts, which differ from each other, and from those of on and off, with any colour vision. */

export interface Colour {
  readonly light: string;
  readonly dark: string;
}

/** The last one is for all parts that are not shown by themselves. */
export const COLOURS: readonly Colour[] = [
  { light: "#7590e0", dark: "#387eee" },
  { light: "#dc7a2c", dark: "#d7d854" },
  { light: "#682a92", dark: "#fc9acf" },
  { light: "#a20a20", dark: "#cd3e3f" },
  { light: "#243d59", dark: "#9ff5b6" },
  { light: "#8a6b86", dark: "#9d6fb8" },
];

export const ON_COLOUR: Colour = { light: "var(--on)", dark: "var(--on)" };
export const OFF_COLOUR: Colour = { light: "var(--bar-off)", dark: "var(--bar-off)" };
