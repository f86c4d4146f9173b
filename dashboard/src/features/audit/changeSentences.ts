/** Changes as sentences: who has done what to which resource. */

import type { Change } from "../../api/changes";
import type { Condition } from "../../api/client";
import { common } from "../../ui/commonTexts";
import { changeSentences as texts } from "./changeSentencesTexts";
import { valueChanges } from "../../ui/changes/changedValues";
import { fieldChanges } from "../../ui/changes/changes";

/** The action, as in "ada@acme.com turned on New checkout". */
export function verbOf(change: Change): string {
  const [only, ...others] = fieldChanges(change);
  const isSwitch = only?.field === "enabled" && others.length === 0 && change.before !== null && change.after !== null;
  if (isSwitch && change.action.startsWith("flag.")) return only.after === common.on ? texts.turnedOn : texts.turnedOff;
  const ofValues = others.length === 0 && only?.field === "conditions" ? valueVerbOf(change) : null;
  return ofValues ?? texts.verbs[change.action] ?? change.action;
}

/** "removed u-77 from the segment", if some values of one condition were removed or added, and nothing else changed. */
function valueVerbOf({ action, before, after }: Change): string | null {
  const places = texts.valuesIn[action];
  const [only, ...others] = valueChanges(conditionsOf(before), conditionsOf(after));
  if (places === undefined || only === undefined || others.length > 0) return null;
  if (only.added.length === 0) return places.removed(valuesInWords(only.removed));
  return only.removed.length === 0 ? places.added(valuesInWords(only.added)) : null;
}

const MOST_NAMED = 3;

const valuesInWords = (values: readonly string[]): string =>
  values.length <= MOST_NAMED ? values.join(", ") : texts.values(values.length);

const conditionsOf = (resource: Change["before"]): readonly Condition[] =>
  Array.isArray(resource?.conditions) ? (resource.conditions as Condition[]) : [];

/** Rules and releases: few of them have names. */
const OF_FLAGS = /^(?:rule|release)\./;

/** Who made a change: an account, a release for its author, or the command line. */
export function actorInWords({ email, release }: Change["actor"]): string {
  const who = email ?? texts.commandLine;
  // The previous release, which may answer during an upgrade, does not know releases of flags.
  return release ? texts.byRelease(release.name, release.guard, who) : who;
}

/** The names of flags by their ids, as far as changes of the flags themselves have them; the newest change is first. */
export function flagNamesIn(changes: readonly Change[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { action, flag_id: flagId, before, after } of changes) {
    const name = (after ?? before)?.name;
    if (action.startsWith("flag.") && flagId !== null && typeof name === "string" && !names.has(flagId))
      names.set(flagId, name);
  }
  return names;
}

/** The name of the changed resource; for a rule or a release, that of its flag, or the flag's key. */
export function subjectOf(change: Change, flagNames: ReadonlyMap<string, string>): string {
  const resource = change.after ?? change.before ?? {};
  if (typeof resource.name === "string" && !OF_FLAGS.test(change.action)) return resource.name;
  if (typeof resource.email === "string") return resource.email;
  if (typeof resource.author_email === "string" && change.action === "comment.deleted") return resource.author_email;
  if (change.action.startsWith("webhook.") && typeof resource.host === "string") return resource.host;
  if (change.action === "account.session_ended")
    return change.resource_id === change.actor.id ? texts.ownAccount : change.resource_id;
  return change.flag_id === null ? "" : (flagNames.get(change.flag_id) ?? change.flag_key ?? texts.goneFlag);
}
