/** The colours of the parts of a whole, such as variants. They only accompany text; after the last comes the first. */

const COLOURS = 6; // of which theme.ts defines each for both schemes

export function partColour(place: number): string {
  return `var(--part-${place % COLOURS})`;
}
