import { expect, it } from "vitest";
import { CALL_LANGUAGES, presetRelease, releaseCall } from "./releaseCalls";

const PATH = { project_id: "p", env_id: "e", flag_id: "f" };

const plain = { fallthrough: "rollout" as const, variants: [] };

it("turns the flag on with the first step, and waits between the others", () => {
  const release = presetRelease("ramp", plain, ["checkout-error"], 3600);
  expect(release.steps).toEqual([
    { after_seconds: 0, changes: { enabled: true, rollout_percentage: 5 } },
    { after_seconds: 3600, changes: { rollout_percentage: 25 } },
    { after_seconds: 3600, changes: { rollout_percentage: 50 } },
    { after_seconds: 3600, changes: { rollout_percentage: 100 } },
  ]);
  expect(release.guards).toEqual([{ metric: "checkout-error", action: "turn_off" }]);
});

it("counts what server keys send only if that is chosen", () => {
  expect(presetRelease("ramp", plain, [], 3600)).not.toHaveProperty("counts");
  const body = presetRelease("ramp", plain, [], 3600, true);
  expect(body.counts).toBe("server_keys");
  expect(releaseCall("curl", "https://x", PATH, body, null)).toContain(`\n  "counts": "server_keys"\n}'`);
});

it("only watches in an experiment, of half of the users or of the variants", () => {
  const half = presetRelease("experiment", plain, ["revenue"], 3600);
  expect(half.steps).toEqual([{ after_seconds: 0, changes: { enabled: true, rollout_percentage: 50 } }]);
  expect(half.guards).toEqual([{ metric: "revenue", action: "notify" }]);
  const variants = ["blue", "green"].map((key) => ({ key, weight: 1, value: key }));
  const [step] = presetRelease("experiment", { ...plain, variants }, [], 3600).steps;
  expect(step?.changes.rollout_percentage).toBe(100);
});

it("gives users without a rule the rollout, if the flag is on for its rules only", () => {
  const [first, second] = presetRelease("canary", { ...plain, fallthrough: "off" }, [], 60).steps;
  expect(first?.changes).toEqual({ enabled: true, fallthrough: "rollout", rollout_percentage: 10 });
  expect(second?.changes).toEqual({ rollout_percentage: 100 });
});

it("says beside the percentages, in every language, that 0 means everyone", () => {
  for (const language of CALL_LANGUAGES) {
    const call = releaseCall(language, "https://x", PATH, presetRelease("canary", plain, [], 60), null);
    expect(call).toContain(`# A rollout_percentage of 0 means everyone. To turn the flag off, set enabled to false.\n`);
  }
});

it("writes the call for a shell, with a line for each step", () => {
  const call = releaseCall("curl", "https://x", PATH, presetRelease("canary", plain, ["it's"], 60), null);
  expect(call).toContain("curl -s https://x/api/projects/p/environments/e/flags/f/releases");
  expect(call).toContain('"Authorization: Bearer $FLAGSTAFF_TOKEN"');
  expect(call).toContain(`"metric":"it'\\''s"`);
  expect(call).toContain('\n    {"after_seconds":60,"changes":{"rollout_percentage":100}}\n  ]');
});

it("writes the call in Python, with its own words for values", () => {
  const body = presetRelease("canary", plain, [], 60);
  const call = releaseCall("python", "https://x", PATH, body, null);
  expect(call).toContain('token = os.environ["FLAGSTAFF_TOKEN"]');
  expect(call).toContain('"changes": {"enabled": True, "rollout_percentage": 10}');
  expect(call).toContain('"guards": []');
  expect(releaseCall("python", "https://x", PATH, body, 'a"b')).toContain('token = "a\\"b"');
});
