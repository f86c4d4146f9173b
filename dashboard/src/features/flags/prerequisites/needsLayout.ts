/** Where the parts of a graph of prerequisites are drawn, in pixels. */

import type { Need, NeedsGraph } from "./needs";

export const NODE = { width: 168, height: 38 } as const;
const GAP = { across: 72, down: 14 } as const;
const MOST_IN_A_COLUMN = 8;

export interface Spot {
  readonly key: string;
  readonly left: number;
  readonly top: number;
}

export interface Line {
  readonly need: Need;
  readonly path: string;
  readonly label: { readonly left: number; readonly top: number };
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly spots: readonly Spot[];
  readonly lines: readonly Line[];
  /** How many flags are left out, because a column would be too long. */
  readonly left: number;
}

export function layOut({ columns, needs }: NeedsGraph): Layout {
  const shown = columns.map((keys) => keys.slice(0, MOST_IN_A_COLUMN));
  const rows = Math.max(...shown.map((keys) => keys.length));
  const height = rows * (NODE.height + GAP.down) - GAP.down;
  const spots = shown.flatMap((keys, column) => {
    const start = (height - keys.length * (NODE.height + GAP.down) + GAP.down) / 2;
    return keys.map((key, row) => ({
      key,
      left: column * (NODE.width + GAP.across),
      top: start + row * (NODE.height + GAP.down),
    }));
  });
  const byKey = new Map(spots.map((each) => [each.key, each]));
  const lines = needs.flatMap((need) => {
    const [from, to] = [byKey.get(need.needed), byKey.get(need.needing)];
    return from && to ? [lineBetween(need, from, to)] : [];
  });
  return {
    width: columns.length * (NODE.width + GAP.across) - GAP.across,
    height,
    spots,
    lines,
    left: columns.flat().length - spots.length,
  };
}

function lineBetween(need: Need, from: Spot, to: Spot): Line {
  const [x1, y1] = [from.left + NODE.width, from.top + NODE.height / 2];
  const [x2, y2] = [to.left, to.top + NODE.height / 2];
  const bend = GAP.across / 2;
  const label = { left: x1 + GAP.across / 2, top: y1 + (y2 - y1) / 2 };
  return { need, path: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`, label };
}
