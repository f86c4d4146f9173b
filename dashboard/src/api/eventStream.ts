/** Reads streams of server-sent events. */

/** How long a stream may be silent: at the beginning, and later. */
export interface Patience {
  readonly firstMilliseconds: number;
  readonly nextMilliseconds: number;
}

/**
 * Calls back with the data of every event in a stream, one line, until the stream ends, and for every sign that the
 * server is there. Comments are such a sign, but not events.
 *
 * Throws when the connection breaks, or when it has been silent for so long that it must have been lost or a proxy must
 * be collecting the events.
 */
export async function readEvents(
  stream: ReadableStream<Uint8Array>,
  { firstMilliseconds, nextMilliseconds }: Patience,
  onEvent: (data: string) => void,
  onSign?: () => void,
): Promise<void> {
  const reader = stream.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = "";
  let patience = firstMilliseconds;
  try {
    for (;;) {
      const { done, value } = await inTime(reader.read(), patience);
      if (done) return;
      patience = nextMilliseconds;
      onSign?.();
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const data = /^data: ?(.*)$/m.exec(block)?.[1];
        if (data !== undefined) onEvent(data);
      }
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}

/** The result of a promise; throws if there is none in time. */
export function inTime<T>(promise: Promise<T>, milliseconds: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout>;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("The stream is silent.")), milliseconds);
  });
  return Promise.race([promise, silence]).finally(() => clearTimeout(timer));
}
