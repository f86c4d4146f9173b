/** The shares of a flag's variants as a bar, which always sums to 100%. The text beside it has the same numbers. */

import { partColour } from "./charts/partColours";
import { scaled } from "./weights";
import classes from "./WeightBar.module.css";

export function WeightBar({ weights }: { weights: readonly number[] }) {
  return (
    <div className={classes.bar} aria-hidden>
      {scaled(weights).map(
        (share, place) =>
          share > 0 && (
            <div key={place} className={classes.part} style={{ flexGrow: share, background: partColour(place) }} />
          ),
      )}
    </div>
  );
}

/** The colour of a variant in the bar. */
export function Swatch({ place }: { place: number }) {
  return <span className={classes.swatch} style={{ background: partColour(place) }} aria-hidden />;
}
