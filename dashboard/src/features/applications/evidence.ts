/** Evidence that something uses a flag, and whether it is new to somebody who waits for it. */

import type { Connection } from "./connectionsCalls";
import type { components } from "../../api/schema";
import { usage as texts } from "./usageTexts";

type Hour = components["schemas"]["ReportedHourOut"];

export interface Evidence {
  /** Differs between any two. */
  readonly id: string;
  /** When it was, by the server's clock. */
  readonly at: string;
  /** Who did what. */
  readonly words: string;
}

const RECENT_MILLISECONDS = 120_000;

/** Evidence counts if it is newer than at the start, or if it was recent then, because the program ran just before. */
export function isNews(evidence: Evidence | null, first: Evidence | null, startedAt: number): boolean {
  if (evidence === null) return false;
  return evidence.id !== first?.id || Date.parse(evidence.at) > startedAt - RECENT_MILLISECONDS;
}

interface Evaluated {
  readonly id: string;
  readonly evaluated_at: string;
  readonly user_id: string | null;
  readonly user_email: string | null;
  readonly enabled: boolean;
  readonly variant?: string | null;
}

export function evidenceOfEvaluation(evaluation: Evaluated | null): Evidence | null {
  if (!evaluation) return null;
  const { id, evaluated_at: at, user_id, user_email, enabled, variant } = evaluation;
  return { id, at, words: texts.evaluated(user_id ?? user_email, enabled, variant ?? null) };
}

/** The newest of what applications reported and fetched. */
export function evidenceOfApplications(connections: readonly Connection[], hours: readonly Hour[]): Evidence | null {
  const reports = hours.map(({ application, sdk, yes, no, reported_at: at }) => ({
    id: `${application} ${sdk} ${at}`,
    at,
    words: texts.reported(application, sdk, yes, no),
  }));
  const fetches = connections.map(({ application, sdk, connection, seen_at: at }) => ({
    id: `${connection} ${at}`,
    at,
    words: texts.connected(application, sdk),
  }));
  return newest([...reports, ...fetches]);
}

function newest(evidence: readonly Evidence[]): Evidence | null {
  return evidence.reduce<Evidence | null>((found, each) => (found && found.at >= each.at ? found : each), null);
}
