/** When a flag was last changed. */

import type { Flag, Rule } from "../api/client";

/** When a flag or one of its rules was last changed. Deleted rules do not count. */
export function changedAt(flag: Flag, rules: readonly Pick<Rule, "updated_at">[] = []): string {
  return rules.reduce((latest, { updated_at: at }) => (at > latest ? at : latest), flag.updated_at);
}
