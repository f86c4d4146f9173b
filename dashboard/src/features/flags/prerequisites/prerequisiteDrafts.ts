/** Prerequisites as they are edited. */

import type { Prerequisite } from "../../../api/client";
import { Problem } from "../../../api/problem";
import { prerequisitesTexts } from "./prerequisitesTexts";

export const NEEDED_STATES = ["on", "off", "variants"] as const;
export type NeededState = (typeof NEEDED_STATES)[number];

export interface PrerequisiteDraft {
  readonly flag_key: string;
  readonly state: NeededState;
  readonly variants: readonly string[];
}

export const NEW_PREREQUISITE: PrerequisiteDraft = { flag_key: "", state: "on", variants: [] };

export function prerequisiteDraftOf({ flag_key, enabled = true, variants = [] }: Prerequisite): PrerequisiteDraft {
  if (variants.length > 0) return { flag_key, state: "variants", variants };
  return { flag_key, state: enabled ? "on" : "off", variants };
}

/** Throws a Problem if variants are required and none is chosen, because an empty list means any variant. */
export function prerequisitesOf(drafts: readonly PrerequisiteDraft[]): Prerequisite[] {
  const empty = drafts.flatMap(({ state, variants }, place) =>
    state === "variants" && variants.length === 0
      ? [{ field: `prerequisites.${place}.variants`, message: prerequisitesTexts.chooseVariant }]
      : [],
  );
  if (empty.length > 0) throw new Problem(400, prerequisitesTexts.notSaved, empty);
  return drafts.map(({ flag_key, state, variants }) => ({
    flag_key,
    enabled: state !== "off",
    variants: state === "variants" ? [...variants] : [],
  }));
}
