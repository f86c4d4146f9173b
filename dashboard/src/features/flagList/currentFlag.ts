/**
 * The flag from which keys move in a list. It is known by its id, because flags change places when others create, change or
 * archive some.
 */

export interface CurrentFlag {
  readonly id: string;
  /** The ids of the flags that were listed when it became the current one. */
  readonly among: readonly string[];
}

/**
 * The place of the flag that follows the current one (`step` of 1) or precedes it (-1), or its own at the end of the list.
 * If the current flag is no longer listed, its former neighbours stand in for it. Without one, the first place.
 */
export function placeBeside(current: CurrentFlag | null, step: 1 | -1, listed: readonly string[]): number {
  if (current === null) return 0;
  const place = listed.indexOf(current.id);
  if (place >= 0) return Math.max(0, Math.min(place + step, listed.length - 1));
  const places = new Map(listed.map((id, at) => [id, at]));
  const at = current.among.indexOf(current.id);
  const [before, after] = [current.among.slice(0, at).toReversed(), current.among.slice(at + 1)];
  const nearest = step === 1 ? [...after, ...before] : [...before, ...after];
  return nearest.map((id) => places.get(id)).find((each) => each !== undefined) ?? 0;
}
