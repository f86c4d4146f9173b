/**
 * States of resources and their entity tags, for changes that must not overwrite what others have changed in the
 * meantime.
 *
 * The tag of a resource with `updated_at` is that time. The tags of other resources are only in responses for a single
 * one.
 */

import { changedFields, equal, type Fields } from "./equal";
import { type Answer, ask, Problem } from "./problem";

export interface State {
  readonly resource: Fields;
  /** Null if it is not known. */
  readonly tag: string | null;
  /** The email of the person who made this state; null if the server does not say, or if it was the command line. */
  readonly by: string | null;
}

/** Sends a change to a state, with its tag, or, with null, to any state. */
export type Send = (body: Fields, tag: string | null) => Promise<object>;

/** Of a change to one state. */
export interface Tagged {
  readonly tag?: string | null;
}

/** The header of a change to a state. */
export function ifMatch(tag: string | null | undefined) {
  return tag ? { headers: { "If-Match": tag } } : {};
}

/** The state of a resource that a list has, or that a page shows. */
export function stateOf(resource: object): State {
  const { updated_at: at } = resource as { updated_at?: unknown };
  return { resource: resource as Fields, tag: typeof at === "string" ? `"${at}"` : null, by: null };
}

/** Loads a resource with its tag. */
export async function loadState(call: Promise<Answer<object>>): Promise<State> {
  const resource = await ask(call);
  return { resource: resource as Fields, tag: (await call).response.headers.get("etag"), by: null };
}

/** The present state of the resource if a change was refused because it was for another state; else null. */
export function stateInstead(error: unknown): State | null {
  if (!(error instanceof Problem) || error.status !== 412 || error.tag === null) return null;
  const { current, changed_by: by } = error.document as { current?: Fields; changed_by?: { email?: string | null } };
  return current === undefined ? null : { resource: current, tag: error.tag, by: by?.email ?? null };
}

const ATTEMPTS = 5;

/**
 * Changes single fields in one call. If someone else has changed the resource, but not these fields, the change is
 * made.
 * Otherwise it throws the Problem, whose document has the present state.
 */
export async function saveFields<T>(
  from: object,
  fields: Fields,
  send: (tag: string | null) => Promise<T>,
  known: string | null = stateOf(from).tag,
): Promise<T> {
  let tag = known;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await send(tag);
    } catch (error) {
      const now = stateInstead(error);
      if (now === null || attempt === ATTEMPTS || !isMeantFor(now.resource, from as Fields, fields)) throw error;
      ({ tag } = now);
    }
  }
}

/** Whether a change of fields can be made to another state: its fields have the old values, or already the new ones. */
export function isMeantFor(now: Fields, from: Fields, wanted: Fields): boolean {
  const isUntouched = Object.keys(wanted).every((field) => equal(from[field], now[field]));
  return isUntouched || Object.keys(changedFields(now, wanted)).length === 0;
}
