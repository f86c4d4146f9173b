/** Describes how many recorded users would get another result after a change, and what is not known. */

import type { Impact } from "./explainCalls";
import { impact as texts } from "./impactTexts";
import { inFull } from "../../ui/time";

export function impactInWords(impact: Impact): string {
  const { users, changed, without_attributes: unknown, complete } = impact;
  const attributes = impact.unknown_attributes.map(({ name }) => name);
  const partly = complete ? "" : texts.partly(inFull(impact.from));
  if (users === 0) return [texts.unknown, partly].filter(Boolean).join(" ");
  const sentences =
    unknown === 0
      ? [texts.changed(changed, users, effects(impact))]
      : unknown === users
        ? [texts.allUnknown(users, attributes)]
        : [texts.atLeast(changed, users, effects(impact)), texts.someUnknown(unknown, attributes)];
  return [...sentences, partly].filter(Boolean).join(" ");
}

function effects({ turned_on: on, turned_off: off, variant_changed: variant }: Impact): string[] {
  return [
    ...(on > 0 ? [texts.turnedOn(on)] : []),
    ...(off > 0 ? [texts.turnedOff(off)] : []),
    ...(variant > 0 ? [texts.variantChanged(variant)] : []),
  ];
}
