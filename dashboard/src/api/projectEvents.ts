/** Reads the events of several projects over one connection: in the worker that all pages share, or in a page. */

import { inTime, readEvents } from "./eventStream";

const PATIENCE = { firstMilliseconds: 5_000, nextMilliseconds: 25_000 }; // there is a comment every ten seconds

/**
 * Follows projects of the server at an address. Calls back with the id of a project for each of its events, and for
 * every sign that the server is there, until the stream ends.
 *
 * Throws when there is no stream, or when its connection breaks or has been silent for too long.
 */
export async function readProjectEvents(
  server: string,
  projectIds: Iterable<string>,
  token: string,
  left: AbortSignal,
  onEvent: (projectId: string) => void,
  onSign: () => void,
): Promise<void> {
  const given = new AbortController();
  const query = new URLSearchParams([...projectIds].map((id) => ["project_id", id]));
  try {
    const answer = fetch(`${server}/api/events?${query}`, {
      headers: { Authorization: `Bearer ${token}` },
      signal: AbortSignal.any([left, given.signal]),
    });
    const { ok, status, body } = await inTime(answer, PATIENCE.firstMilliseconds);
    if (!ok || body === null) throw new Error(`There is no stream: ${status}.`);
    await readEvents(body, PATIENCE, (data) => onEvent((JSON.parse(data) as Told).project_id), onSign);
  } finally {
    given.abort();
  }
}

interface Told {
  readonly project_id: string;
}
