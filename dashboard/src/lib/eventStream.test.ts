import { describe, expect, it, vi } from "vitest";
import { readEvents } from "./eventStream";

const bytes = (text: string) => new TextEncoder().encode(text);

function streamOf(...parts: readonly string[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(bytes(part));
      controller.close();
    },
  });
}

describe("a stream of events", () => {
  it("is read to its end, event by event, however it is cut into parts", async () => {
    const onEvent = vi.fn();
    await readEvents(
      streamOf("retry: 700\n\nid: 1\nevent: revision\nda", "ta: 1\n", "\nid: 2\ndata: 2\n\n"),
      1_000,
      onEvent,
    );
    expect(onEvent).toHaveBeenCalledTimes(2);
  });

  it("has no events in its comments", async () => {
    const onEvent = vi.fn();
    await readEvents(streamOf(":\n\n", ":\n\n"), 1_000, onEvent);
    expect(onEvent).not.toHaveBeenCalled();
  });

  it("is given up when nothing comes any more", async () => {
    const silent = new ReadableStream<Uint8Array>();
    await expect(readEvents(silent, 10, () => undefined)).rejects.toThrow("silent");
  });

  it("ends with the failure of its connection", async () => {
    const broken = new ReadableStream<Uint8Array>({ start: (controller) => controller.error(new TypeError("reset")) });
    await expect(readEvents(broken, 1_000, () => undefined)).rejects.toThrow("reset");
  });
});
