/**
 * Weights of variants, which divide the users of a flag. The dashboard keeps their sum at 1000, so that a weight is a
 * share in tenths of a percent.
 */

const TOTAL = 1000;

/** The same proportions with another sum. The remainder of the rounding goes to the weights that lost most by it. */
export function scaled(weights: readonly number[], total = TOTAL): number[] {
  const sum = weights.reduce((all, each) => all + each, 0);
  if (sum === 0 && weights.length > 0) return scaled(Array<number>(weights.length).fill(1), total);
  const exact = weights.map((each) => (each * total) / sum);
  const whole = exact.map(Math.floor);
  const left = total - whole.reduce((all, each) => all + each, 0);
  const lost = (place: number) => (exact[place] ?? 0) - (whole[place] ?? 0);
  const byLoss = [...whole.keys()].toSorted((a, b) => lost(b) - lost(a) || a - b);
  const raised = new Set(byLoss.slice(0, left));
  return whole.map((each, place) => (raised.has(place) ? each + 1 : each));
}

export function isEven(weights: readonly number[]): boolean {
  const shares = scaled(weights);
  return Math.max(...shares) - Math.min(...shares) <= 1 || weights.length === 0;
}

/** Sets one weight. The others keep their proportions. */
export function withWeight(weights: readonly number[], place: number, weight: number): number[] {
  return scaled(weights.toSpliced(place, 1), TOTAL - weight).toSpliced(place, 0, weight);
}

/** An even division stays even. Any other division was chosen and is kept, so the new variant gets no users. */
export function withOneMore(weights: readonly number[]): number[] {
  return isEven(weights) ? scaled(Array<number>(weights.length + 1).fill(1)) : [...weights, 0];
}

/** An even division stays even. In any other, the users of the removed variant go to the others in proportion. */
export function without(weights: readonly number[], place: number): number[] {
  const rest = weights.toSpliced(place, 1);
  if (isEven(weights)) return scaled(rest.map(() => 1));
  return weights[place] === 0 ? rest : scaled(rest);
}

/** A share in words: "33.4%". */
export function percent(share: number): string {
  return `${share / 10}%`;
}
