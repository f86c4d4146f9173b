/** A day's evaluations as small bars: on is solid, off is pale above it. The text next to them says the same. */

import type { Bar } from "../history/series";
import classes from "./Spark.module.css";

const WIDTH = 96;
const HEIGHT = 24;
const GAP = 1;

export function Spark({ bars }: { bars: readonly Bar[] }) {
  const most = Math.max(1, ...bars.map((bar) => bar.on + bar.off));
  const width = WIDTH / bars.length - GAP;
  return (
    <svg
      className={classes.spark}
      width={WIDTH}
      height={HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden
    >
      <path className={classes.base} d={`M0 ${HEIGHT - 0.5}H${WIDTH - GAP}`} />
      {bars.map((bar, index) => {
        if (bar.on + bar.off === 0) return null;
        const x = index * (width + GAP);
        const off = height(bar.off, most);
        const on = height(bar.on, most);
        return (
          <g key={bar.start}>
            <rect className={classes.on} x={x} width={width} y={HEIGHT - on} height={on} />
            <rect className={classes.off} x={x} width={width} y={HEIGHT - on - off} height={off} />
          </g>
        );
      })}
    </svg>
  );
}

/** Any number above zero is visible, however small. */
function height(count: number, most: number): number {
  return count === 0 ? 0 : Math.max(1.5, (count / most) * (HEIGHT - 2));
}
