/**
 * Changes of resources without `updated_at`, whose tags have to be read. A change applies only to the state that was
 * shown.
 */

import type { Fields } from "./equal";
import type { Answer } from "./problem";
import { isMeantFor, loadState, saveFields } from "./states";

/** The tag of no state. A change with it is refused, and the refusal has the present state and who made it. */
const NO_STATE = '"none"';

/** Changes fields of a resource; `from` is the state that was shown. */
export async function saveShown<T>(
  load: () => Promise<Answer<object>>,
  from: object,
  fields: Fields,
  send: (tag: string | null) => Promise<T>,
): Promise<T> {
  const { resource, tag } = await loadState(load());
  return saveFields(from, fields, send, isMeantFor(resource, from as Fields, fields) ? tag : NO_STATE);
}
