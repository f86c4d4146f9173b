/**
 * Edits a resource that others may change at the same time. Only edited fields are sent, with the tag of the state that
 * they are based on. Others' changes are shown. They are merged where they do not overlap; otherwise the person
 * chooses.
 */

import { useState } from "react";
import { type Send, type State, stateInstead } from "../../api/states";
import { changed as texts } from "./changedTexts";
import { fieldChanges } from "../changes/changes";
import { changedFields, equal, type Fields } from "../../api/equal";
import { type Choices, type Conflict, isSettled, merge, type Side } from "./merge";
import { notifyDone } from "../../api/notify";
import { useDraft } from "./useDraft";
import { useNewest } from "../useNewest";

const ATTEMPTS = 5;

interface Options<Resource extends object, Values extends object> {
  /** The key of the draft, which names the resource and the form. */
  readonly draft: string;
  readonly projectId: string;
  readonly resourceId: string;
  /** The newest known state. It changes while the form is open if others change the resource. */
  readonly resource: Resource;
  /** Loads it with its tag, if it has no `updated_at`. */
  readonly load?: () => Promise<State>;
  readonly valuesOf: (resource: Resource) => Values;
  /** The values to start with, if they are not those of the resource. */
  readonly initial?: Values;
  /** The fields of the API; may throw a Problem. */
  readonly fieldsOf: (values: Values) => object;
  readonly send: Send;
  /** Whether the form continues with the saved state, as on a page. */
  readonly stays?: boolean;
  readonly onDone: () => void;
}

/** What others have changed since `base`, and the conflicts with what is edited here. */
export interface Changed {
  readonly projectId: string;
  readonly resourceId: string;
  readonly base: Fields;
  readonly state: State;
  readonly conflicts: readonly Conflict[];
  readonly onChoose: (id: string, side: Side) => void;
}

export function useEditor<Resource extends object, Values extends object>(options: Options<Resource, Values>) {
  const { projectId, resourceId, resource, valuesOf, fieldsOf } = options;
  const draft = useDraft(options.draft, options.initial ?? valuesOf(resource), resource);
  const base = (draft.base ?? resource) as Resource & Fields;
  const { state, note } = useNewest(resource);
  const [choices, setChoices] = useState<Choices>({});
  const [isSending, setSending] = useState(false);
  const mergeWith = (values: Values, theirs: State) =>
    merge(base, touched(base, fieldsOf(valuesOf(base)), fieldsOf(values)), theirs.resource, choices);

  const submit = async (values: Values): Promise<void> => {
    setSending(true); // a saved state is shown before the dialog closes, and is not a change of others
    try {
      const saved = await save(options, (now) => mergeWith(values, now), state, note);
      if (saved === null) return;
      const { theirs, result, conflicts } = saved;
      if (options.stays) draft.restart(result, valuesOf(result as Resource));
      else draft.end();
      const replaced = conflicts.filter(({ choice }) => choice === "mine").map(({ field }) => field);
      const changes = fieldChanges({ before: base, after: theirs.resource });
      const kept = changes.filter(({ field }) => !replaced.includes(field));
      if (kept.length > 0) notifyDone(texts.kept(kept.map(({ field }) => texts.field(field))));
      options.onDone();
    } finally {
      setSending(false);
    }
  };

  const isChanged = !isSending && fieldChanges({ before: base, after: state.resource }).length > 0;
  const changed: Changed | null = isChanged
    ? {
        projectId,
        resourceId,
        base,
        state,
        conflicts: conflictsOf(() => mergeWith(draft.form.values, state)),
        onChoose: (id, side) => setChoices((all) => ({ ...all, [id]: side })),
      }
    : null;
  return { form: draft.form, submit, editing: { draft, changed } };
}

/** Returns the state that the change was made to, and the response; null if someone must choose first. */
async function save(
  { load, send }: Pick<Options<object, object>, "load" | "send">,
  mergeWith: (theirs: State) => ReturnType<typeof merge>,
  known: State,
  note: (theirs: State) => void,
): Promise<{ theirs: State; result: object; conflicts: readonly Conflict[] } | null> {
  let theirs = load ? await load() : known;
  for (let attempt = 1; ; attempt += 1) {
    const { merged, conflicts } = mergeWith(theirs);
    if (!isSettled(conflicts)) {
      note(theirs);
      return null;
    }
    const body = changedFields(theirs.resource, merged);
    // Sent even without a change, so that a missing permission is reported; but not again after others' changes.
    if (Object.keys(body).length === 0 && attempt > 1) return { theirs, result: theirs.resource, conflicts };
    try {
      return { theirs, result: await send(body, theirs.tag), conflicts };
    } catch (error) {
      const now = stateInstead(error);
      if (now === null || attempt === ATTEMPTS) throw error;
      theirs = now;
    }
  }
}

/** The edited fields. A field that was not edited has the value of the base, however the form would write it. */
function touched(base: Fields, before: object, now: object): Fields {
  const isTouched = (field: string, value: unknown) => !equal((before as Fields)[field], value);
  return Object.fromEntries(
    Object.entries(now).map(([field, value]) => [field, isTouched(field, value) ? value : base[field]]),
  );
}

/** None while the edits are not valid yet. */
function conflictsOf(mergeNow: () => ReturnType<typeof merge>): readonly Conflict[] {
  try {
    return mergeNow().conflicts;
  } catch {
    return [];
  }
}
