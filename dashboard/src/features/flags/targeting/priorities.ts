/** Computes the priorities that move a rule to a position, changing as few rules as possible. */

export interface Prioritised {
  readonly id: string;
  readonly priority: number;
}

const STEP = 10;
const LOWEST = -(2 ** 31);
const HIGHEST = 2 ** 31 - 1;

/** `rules` are sorted by priority, highest first. The rule at `from` moves to `to`. */
export function reorder(rules: readonly Prioritised[], from: number, to: number): Prioritised[] {
  const moved = rules[from];
  if (!moved || from === to || to < 0 || to >= rules.length) return [];
  const rest = rules.toSpliced(from, 1);
  const between = priorityBetween(rest[to - 1]?.priority, rest[to]?.priority);
  if (between !== null) return [{ id: moved.id, priority: between }];
  const order = rest.toSpliced(to, 0, moved);
  return order
    .map((rule, place) => ({ rule, priority: (order.length - place) * STEP }))
    .filter(({ rule, priority }) => rule.priority !== priority)
    .map(({ rule, priority }) => ({ id: rule.id, priority }));
}

/** The priority with which a new rule is checked last, so that it does not affect the other rules. */
export function priorityAtEnd(rules: readonly Prioritised[]): number {
  const last = rules.at(-1);
  return last ? Math.max(last.priority - STEP, LOWEST) : 0;
}

export interface RulePlace {
  /** The rule after which it is checked; null for the first place. */
  readonly after: string | null;
  readonly priority: number;
}

/**
 * The places that a rule can have among others without changing them, in their order; `others` are sorted by priority. The
 * place that it has keeps its priority.
 */
export function placesAmong(others: readonly Prioritised[], priority: number): RulePlace[] {
  const own = others.filter((each) => each.priority >= priority).length;
  return Array.from({ length: others.length + 1 }, (_, place) => {
    const [above, below] = [others[place - 1], others[place]];
    const found = place === own ? priority : priorityBetween(above?.priority, below?.priority);
    return found === null ? [] : [{ after: above?.id ?? null, priority: found }];
  }).flat();
}

function priorityBetween(above: number | undefined, below: number | undefined): number | null {
  if (above === undefined) return below !== undefined && below + STEP <= HIGHEST ? below + STEP : null;
  if (below === undefined) return above - STEP >= LOWEST ? above - STEP : null;
  return above - below >= 2 ? below + Math.floor((above - below) / 2) : null;
}
