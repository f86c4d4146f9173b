/**
 * Follows a project over the one connection that all pages of a browser share. With HTTP/1.1, a browser opens six
 * connections to a server for all of its pages, and seven pages with a stream each would keep each other from loading.
 */

import { serverAddress } from "./server";
import { readProjectEvents } from "./projectEvents";

/** What a page sends to the worker: first what it follows, then a response to each sign, and at last that it leaves. */
export type FromPage =
  { readonly server: string; readonly projectId: string; readonly token: string } | "here" | "left";
/** What the worker sends to a page. Nothing follows the last two. */
export type ToPage = "event" | "sign" | "ended" | "failed";

/** The stream has a sign every ten seconds. Without any, the worker may have died with the page whose process it used. */
const SILENCE_MILLISECONDS = 15_000;

/**
 * Calls back for each event of a project, and for every sign that the server is there, until the stream ends or falls
 * silent.
 *
 * Throws when there is no stream, or when its connection breaks.
 */
export function readSharedEvents(
  projectId: string,
  token: string,
  left: AbortSignal,
  onEvent: () => void,
  onSign: () => void,
): Promise<void> {
  const server = serverAddress();
  if (typeof SharedWorker === "undefined") return readProjectEvents(server, [projectId], token, left, onEvent, onSign);
  const worker = new SharedWorker(new URL("./eventsWorker.ts", import.meta.url), { type: "module" });
  const { port } = worker;
  const send = (message: FromPage) => port.postMessage(message);
  let silence: ReturnType<typeof setTimeout>;
  return new Promise<void>((resolve, reject) => {
    const fail = () => reject(new Error("The worker has no stream."));
    const wait = () => {
      clearTimeout(silence);
      silence = setTimeout(resolve, SILENCE_MILLISECONDS);
    };
    port.addEventListener("message", ({ data }: MessageEvent<ToPage>) => {
      wait();
      if (data === "event") onEvent();
      else if (data === "ended") resolve();
      else if (data === "failed") fail();
      else {
        onSign();
        send("here");
      }
    });
    worker.addEventListener("error", fail); // no code, such as after an upgrade
    left.addEventListener("abort", fail);
    wait();
    port.start();
    send({ server, projectId, token });
  }).finally(() => {
    clearTimeout(silence);
    send("left");
    port.close();
  });
}
