/** Describes for how many recorded users a change would change the result, and what is not known. */

import type { Impact } from "../api/explain";
import { t } from "../texts";
import { inFull } from "./time";

export function impactInWords(impact: Impact): string {
  const { users, changed, without_attributes: unknown, complete } = impact;
  const partly = complete ? "" : t.impact.partly(inFull(impact.from));
  if (users === 0) return [t.impact.unknown, partly].filter(Boolean).join(" ");
  const sentences = [t.impact.changed(changed, users), effects(impact)];
  if (unknown > 0) sentences.push(t.impact.withoutAttributes(unknown));
  return [...sentences, partly].filter(Boolean).join(" ");
}

function effects({ turned_on: on, turned_off: off, variant_changed: variant }: Impact): string {
  const all = [
    on > 0 && t.impact.turnedOn(on),
    off > 0 && t.impact.turnedOff(off),
    variant > 0 && t.impact.variantChanged(variant),
  ];
  return all.filter(Boolean).join(" ");
}
