/** Shares of users of which one is edited at a time; the others keep their proportions. */

import { useRef } from "react";
import { withWeight } from "../../../ui/weights";

/**
 * Returns what sets a share, in tenths of a percent. The other shares are computed from those before the edit, so that
 * intermediate digits while typing do not matter.
 */
export function useShares(shares: readonly number[], setAll: (shares: readonly number[]) => void) {
  const edit = useRef<{ readonly place: number; readonly before: readonly number[]; readonly now: string } | null>(
    null,
  );
  return (place: number, share: number) => {
    if (share === shares[place]) return; // the field also calls back for a value that it was given
    const last = edit.current;
    const goesOn = last?.place === place && last.now === shares.join();
    const before = goesOn ? last.before : shares;
    const all = withWeight(before, place, share);
    edit.current = { place, before, now: all.join() };
    setAll(all);
  };
}
