/** Reads from a change's response which instances may not serve it. */

import { liveOn as texts } from "./missingInstancesTexts";

export interface Warning {
  readonly title: string;
  readonly message: string;
}

/** Null if every instance serves the change, or if the response does not say. */
export function missingInWords(headers: Headers): Warning | null {
  const [live, known] = (headers.get("Flagstaff-Live-On") ?? "").split("/").map(Number);
  if (live === undefined || known === undefined || !(live < known)) return null;
  return { title: texts.notEverywhere(live, known), message: texts.missing(headers.get("Flagstaff-Missing") ?? "?") };
}
