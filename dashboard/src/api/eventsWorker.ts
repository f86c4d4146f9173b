/**
 * The worker that all pages of a browser share. It keeps one connection for the events of all projects that they show.
 *
 * Pages with different tokens have different connections, so no page is told of what its own account may not read.
 */

import { readProjectEvents } from "./projectEvents";
import type { FromPage, ToPage } from "./sharedEvents";

const SETTLE_MILLISECONDS = 50; // in which one page of a window takes the place of another
const UNANSWERED_MILLISECONDS = 30_000;

interface Page {
  readonly projectId: string;
  readonly send: (message: ToPage) => void;
  /** When it was sent the first of the signs that it has not answered. */
  askedAt: number | null;
}

/** The pages with one token, and the projects of their connection. */
interface Audience {
  readonly server: string;
  readonly token: string;
  readonly pages: Set<Page>;
  projectIds: ReadonlySet<string>;
  connection: AbortController;
  settling: ReturnType<typeof setTimeout> | undefined;
}

const audiences = new Map<string, Audience>();

addEventListener("connect", (event) => {
  const [port] = (event as MessageEvent).ports;
  if (port === undefined) return;
  let audience: Audience | undefined;
  let page: Page | undefined;
  port.addEventListener("message", ({ data }: MessageEvent<FromPage>) => {
    if (typeof data === "object") {
      page = { projectId: data.projectId, send: (message) => port.postMessage(message), askedAt: null };
      audience = audienceOf(data.server, data.token);
      join(audience, page);
    } else if (audience !== undefined && page !== undefined) {
      if (data === "left") leave(audience, page);
      else page.askedAt = null;
    }
  });
  port.start();
});

function audienceOf(server: string, token: string): Audience {
  const known = audiences.get(token);
  if (known !== undefined) return known;
  const connection = new AbortController();
  const made: Audience = { server, token, pages: new Set(), projectIds: new Set(), connection, settling: undefined };
  audiences.set(token, made);
  return made;
}

function join(audience: Audience, page: Page): void {
  audience.pages.add(page);
  if (audience.projectIds.has(page.projectId)) page.send("event"); // it may have missed some
  settle(audience);
}

function leave(audience: Audience, page: Page): void {
  audience.pages.delete(page);
  settle(audience);
}

/** Replaces the connection if it lacks a project, and closes it when the last page has left. */
function settle(audience: Audience): void {
  audience.settling ??= setTimeout(() => {
    audience.settling = undefined;
    const wanted = new Set([...audience.pages].map(({ projectId }) => projectId));
    if (wanted.size > 0 && [...wanted].every((id) => audience.projectIds.has(id))) return;
    audience.connection.abort();
    audience.projectIds = wanted;
    if (wanted.size > 0) void follow(audience, wanted);
  }, SETTLE_MILLISECONDS);
}

async function follow(audience: Audience, projectIds: ReadonlySet<string>): Promise<void> {
  const connection = new AbortController();
  audience.connection = connection;
  const { signal } = connection;
  let last: ToPage = "ended";
  try {
    await readProjectEvents(
      audience.server,
      projectIds,
      audience.token,
      signal,
      (id) => tell(audience, id),
      () => check(audience),
    );
  } catch {
    last = "failed";
  }
  if (signal.aborted) return; // another connection has taken its place, or nobody is left
  audience.projectIds = new Set();
  for (const page of audience.pages) page.send(last);
  audience.pages.clear();
}

function tell({ pages }: Audience, projectId: string): void {
  for (const page of pages) if (page.projectId === projectId) page.send("event");
}

/** Passes on a sign of life. A page that has not answered for long was ended by the browser before it could leave. */
function check(audience: Audience): void {
  const now = Date.now();
  for (const page of audience.pages) {
    if (page.askedAt !== null && now - page.askedAt > UNANSWERED_MILLISECONDS) leave(audience, page);
    page.askedAt ??= now;
    page.send("sign");
  }
}
