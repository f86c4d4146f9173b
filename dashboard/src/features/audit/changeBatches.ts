/** Operations that made several changes, in words: "copied 12 flags from Staging". */

import type { Change } from "../../api/changes";
import { changeBatches as texts } from "./changeBatchesTexts";
import { verbOf } from "./changeSentences";

export type Batch = NonNullable<Change["batch"]>;

/** All changes of a bulk action are alike. Other operations say themselves what they did. */
export function batchVerb({ kind }: Batch, newest: Change): string {
  if (kind === "bulk_action") return verbOf(newest);
  return kind === "restore" ? texts.restored : texts.copied;
}

export function batchSubject({ kind, changes, flags, origin_id }: Batch, origin: string | undefined): string {
  if (kind === "restore") return flags > 0 ? texts.flags(flags) : texts.resources(changes);
  return texts.flags(flags) + (origin_id !== null && origin !== undefined ? texts.from(origin) : "");
}
