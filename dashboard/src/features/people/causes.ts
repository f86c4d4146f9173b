/** Says what was different about a user. */

import type { Cause } from "./causesCalls";
import { textOf } from "../../api/json";
import { causes as texts } from "./causesTexts";

type Difference = Cause["attributes"][number];

export function differenceInWords({ name, before, after }: Difference): string {
  if (name === "current_time") return texts.time;
  const called = texts.names[name] ?? name;
  if (before === null) return texts.given(called, textOf(after));
  if (after === null) return texts.gone(called, textOf(before));
  return texts.attribute(called, textOf(before), textOf(after));
}
