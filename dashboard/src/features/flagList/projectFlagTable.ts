/** The table of the flags of all environments: its filters in the URL, and differences in words. */

import type { Aspect } from "../flags/projectFlagsCalls";
import { projectFlags as texts } from "../flags/projectFlagsTexts";

export interface ProjectFlagsSearch {
  readonly q?: string;
  readonly differs?: true;
}

export function toProjectFlagsSearch({ q, differs }: Record<string, unknown>): ProjectFlagsSearch {
  const text = typeof q === "number" ? String(q) : q;
  return { ...(typeof text === "string" && text && { q: text }), ...(differs === true && { differs }) };
}

/** "Differs: rules, rollout"; null if the flags are the same. */
export function differenceInWords(differs: readonly Aspect[]): string | null {
  return differs.length > 0 ? texts.differing(differs.map((each) => texts.aspects[each]).join(", ")) : null;
}
