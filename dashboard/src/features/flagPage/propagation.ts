/** Says which applications have the present state of an environment. */

import type { Connections } from "../applications/connectionsCalls";
import { connections as texts } from "./connectionsTexts";

/** Null if no application evaluates flags itself. */
export function propagationInWords({ current, total, connections }: Connections, now: number): string | null {
  if (total === 0) return null;
  if (current >= total) return `${texts.server} ${texts.all(total)}`;
  const late = connections.filter((each) => !each.is_current);
  const due = late
    .map(({ due_at: at }) => (at === null ? 0 : Math.ceil((Date.parse(at) - now) / 1000)))
    .filter((seconds) => seconds > 0);
  const overdue = late.length - due.length;
  const parts = [
    texts.some(current, total),
    ...(due.length > 0 ? [texts.due(due.length, Math.max(...due))] : []),
    ...(overdue > 0 ? [texts.overdue(overdue)] : []),
  ];
  return `${texts.server} ${parts.join("; ")}.`;
}
