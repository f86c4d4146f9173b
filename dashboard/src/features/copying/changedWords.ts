/** Marks the words in which two texts differ. */

export interface Piece {
  readonly text: string;
  readonly changed: boolean;
}

/** The table that finds what both have in common has as many cells as the product of their words. */
const MOST_CELLS = 250_000;

/** Both texts in pieces. Texts that are too long to compare are one changed piece each. */
export function changedWords(before: string, after: string): { before: Piece[]; after: Piece[] } {
  const [old, now] = [wordsOf(before), wordsOf(after)];
  if (old.length * now.length > MOST_CELLS) {
    return { before: [{ text: before, changed: true }], after: [{ text: after, changed: true }] };
  }
  const lengths = commonLengths(old, now);
  const [marked, other]: [Piece[], Piece[]] = [[], []];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      push(marked, old[i++] ?? "", false);
      push(other, now[j++] ?? "", false);
    } else if (j === now.length || (i < old.length && at(lengths, i + 1, j) >= at(lengths, i, j + 1))) {
      push(marked, old[i++] ?? "", true);
    } else {
      push(other, now[j++] ?? "", true);
    }
  }
  return { before: marked, after: other };
}

/** Words with the blanks that follow them, so that joining the pieces gives the text. */
function wordsOf(text: string): string[] {
  return text.match(/\S+\s*|\s+/g) ?? [];
}

/** The lengths of the longest common subsequences of the words from i and from j on. */
function commonLengths(old: readonly string[], now: readonly string[]): number[][] {
  const lengths = Array.from({ length: old.length + 1 }, () => Array<number>(now.length + 1).fill(0));
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      const length =
        old[i] === now[j] ? at(lengths, i + 1, j + 1) + 1 : Math.max(at(lengths, i + 1, j), at(lengths, i, j + 1));
      (lengths[i] ?? [])[j] = length;
    }
  }
  return lengths;
}

function at(lengths: readonly (readonly number[])[], i: number, j: number): number {
  return lengths[i]?.[j] ?? 0;
}

function push(pieces: Piece[], text: string, changed: boolean): void {
  const last = pieces.at(-1);
  if (last?.changed === changed) pieces[pieces.length - 1] = { text: last.text + text, changed };
  else pieces.push({ text, changed });
}
