import { describe, expect, test } from "vitest";
import type { ServingInstance } from "./servingInstancesCalls";
import { troubleOf } from "./servingInstances";

const load = {
  evaluations_per_second: 100,
  cpu: 0.2,
  event_loop_lag_seconds: 0.002,
  connections: 1,
  streams: 0,
  memory_bytes: 9e7,
};
const instance: ServingInstance = {
  id: "a",
  name: "a:8000",
  answered: true,
  version: "1.0.0",
  started_at: null,
  workers: 1,
  lease: { state: "live", expires_in_seconds: 2.5 },
  change: 7,
  changes_behind: 0,
  seconds_behind: 0,
  same_secret_key: true,
  load,
};

describe("the trouble of an instance", () => {
  test.each([
    ["none", {}, null],
    ["none right after a change", { changes_behind: 1, seconds_behind: 1.5 }, null],
    ["none while it stops", { lease: { state: "leaving", expires_in_seconds: 1 } }, null],
    ["none of an earlier release, which says nothing", { load: null, seconds_behind: null, change: null }, null],
    ["a lapsed lease", { lease: { state: "lapsed", expires_in_seconds: -1 }, seconds_behind: 60 }, "lapsed"],
    ["a key that differs", { same_secret_key: false, seconds_behind: 7 }, "otherKey"],
    ["none if keys cannot be compared", { same_secret_key: null }, null],
    ["changes that it does not serve", { changes_behind: 1, seconds_behind: 7 }, "behind"],
    ["an event loop that is late", { load: { ...load, event_loop_lag_seconds: 0.6 } }, "busy"],
  ] as const)("is %s", (_, differs, expected) => {
    expect(troubleOf({ ...instance, ...differs })).toBe(expected);
  });
});
