import { describe, expect, it, vi } from "vitest";
import { readEvents } from "./eventStream";

const PATIENCE = { firstMilliseconds: 1_000, nextMilliseconds: 1_000 };

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
      PATIENCE,
      onEvent,
    );
    expect(onEvent.mock.calls).toEqual([["1"], ["2"]]);
  });

  it("has no events in its comments, which are signs of life", async () => {
    const [onEvent, onSign] = [vi.fn(), vi.fn()];
    await readEvents(streamOf(":\n\n", ":\n\n"), PATIENCE, onEvent, onSign);
    expect(onEvent).not.toHaveBeenCalled();
    expect(onSign).toHaveBeenCalledTimes(2);
  });

  it("is given up when nothing comes any more", async () => {
    const silent = new ReadableStream<Uint8Array>();
    const patience = { ...PATIENCE, firstMilliseconds: 10 };
    await expect(readEvents(silent, patience, () => undefined)).rejects.toThrow("silent");
  });

  it("is given up when it falls silent after an event", async () => {
    const stream = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(bytes("data: 1\n\n")) });
    const onEvent = vi.fn();
    await expect(readEvents(stream, { ...PATIENCE, nextMilliseconds: 10 }, onEvent)).rejects.toThrow("silent");
    expect(onEvent).toHaveBeenCalledOnce();
  });

  it("ends with the failure of its connection", async () => {
    const broken = new ReadableStream<Uint8Array>({ start: (controller) => controller.error(new TypeError("reset")) });
    await expect(readEvents(broken, PATIENCE, () => undefined)).rejects.toThrow("reset");
  });
});
