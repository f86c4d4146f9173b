/** Says what was different about a user. */

import type { Cause } from "../../api/causes";
import { causes as texts } from "../../texts/causes";

type Difference = Cause["attributes"][number];

export function differenceInWords({ name, before, after }: Difference): string {
  if (name === "current_time") return texts.time;
  const called = texts.names[name] ?? name;
  if (before === null) return texts.given(called, valueInWords(after));
  if (after === null) return texts.gone(called, valueInWords(before));
  return texts.attribute(called, valueInWords(before), valueInWords(after));
}

/** A text unchanged, anything else as JSON. */
function valueInWords(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
