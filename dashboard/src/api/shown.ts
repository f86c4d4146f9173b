/** Changes of resources without `updated_at`, whose tags have to be read: they are meant for what was shown. */

import type { Fields } from "../lib/equal";
import type { Answer } from "./problem";
import { isMeantFor, loadState, saveFields } from "./states";

/** The tag of no state: a change to it is refused, with the present state and who has made it. */
const NO_STATE = '"none"';

/** Changes fields of a resource, of which `from` is what was shown. */
export async function saveShown<T>(
  load: () => Promise<Answer<object>>,
  from: object,
  fields: Fields,
  send: (tag: string | null) => Promise<T>,
): Promise<T> {
  const { resource, tag } = await loadState(load());
  return saveFields(from, fields, send, isMeantFor(resource, from as Fields, fields) ? tag : NO_STATE);
}
