import { expect, it } from "vitest";
import type { Candidate } from "./cleanupCalls";
import { consequences, type Evidence, pullRequestText, reasonsInWords, wantedOf } from "./cleanup";

const evidence: Evidence = {
  days: 30,
  since: "2026-10-21T10:00:00.000000Z",
  historySince: null,
  until: "2026-11-20T10:12:00.000Z",
  hiddenEnvironments: 0,
  environment: { name: "Production" },
  environments: [{ id: "s", name: "Staging" }],
};
const staging = {
  id: "other",
  environment_id: "s",
  name: "New checkout",
  enabled: false,
  archived_at: null,
  updated_at: "2026-11-20T10:00:00.000000Z",
  rollout_percentage: 0,
  fallthrough: "rollout",
  rules: 0,
  variants: 0,
  prerequisites: 0,
} as const;
const candidate = (values: Partial<Candidate> = {}): Candidate => ({
  id: "f",
  key: "new-checkout",
  name: "New checkout",
  enabled: true,
  owner: "Payments",
  tags: [],
  keep: false,
  created_at: "2026-01-02T10:00:00.000000Z",
  changed_at: "2026-09-01T10:00:00.000000Z",
  reasons: ["on_for_everyone", "unchanged"],
  evaluations: { on: 12_311, off: 0, reported: 300, variant: null },
  needed_by: ["beta-search"],
  elsewhere: [staging],
  ...values,
});
const off = candidate({
  key: "old-banner",
  owner: null,
  reasons: ["off_for_everyone"],
  evaluations: { on: 0, off: 1, reported: 0, variant: null },
  needed_by: [],
});

it("says why a flag may be removed and what that alters", () => {
  expect(reasonsInWords(candidate(), evidence)).toEqual([
    "On for everyone for 30 days: 12,311 evaluations.",
    "Neither the flag nor its rules changed since Sep 1, 2026.",
    "Applications reported 300 of the evaluations.",
  ]);
  expect(consequences(candidate(), evidence)).toEqual([
    "The code that evaluates it can be replaced by its “on” branch.",
    "beta-search needs it.",
    "Staging differs: off.",
  ]);
  expect(consequences(off, { ...evidence, hiddenEnvironments: 2 })).toEqual([
    "The code that evaluates it can be replaced by its “off” branch.",
    "Staging: off.",
    "2 environments that you cannot see may differ.",
  ]);
});

it("names the day on which a shorter history begins, and the variant that all got", () => {
  const flag = candidate({
    reasons: ["on_for_everyone"],
    evaluations: { on: 5, off: 0, reported: 0, variant: "blue" },
  });
  const shorter = { ...evidence, historySince: "2026-11-01T00:00:00.000000Z" };
  expect(reasonsInWords(flag, shorter)).toEqual([
    "On for everyone since Nov 1, 2026: 5 evaluations, all with the variant blue.",
  ]);
  expect(consequences(flag, shorter)[0]).toBe("The code that evaluates it can be replaced by its branch for blue.");
});

it("does not advise a branch for a flag that was on for some users only", () => {
  const flag = candidate({ reasons: ["unchanged"], evaluations: { on: 3, off: 4, reported: 0, variant: null } });
  expect(consequences(flag, evidence)[0]).toContain("on for 3 evaluations and off for 4");
  expect(pullRequestText([flag], evidence)).toContain("Decide which branch of the code stays.");
});

it("writes a pull request for several flags, with a check for what differs and for what needs them", () => {
  expect(pullRequestText([candidate(), off], evidence)).toBe(`# Remove 2 flags

The evidence is from Production in Flagstaff.

## What stays

- **\`new-checkout\`** (owner: Payments)
  - The “on” branch of the code stays.
  - On for everyone from Oct 21, 2026 to Nov 20, 2026: 12,311 evaluations.
  - Neither the flag nor its rules changed since Sep 1, 2026.
  - Applications reported 300 of the evaluations.
- **\`old-banner\`**
  - The “off” branch of the code stays.
  - Off for everyone from Oct 21, 2026 to Nov 20, 2026: 1 evaluation.

## Checks

- [ ] The code no longer evaluates \`new-checkout\`
- [ ] \`beta-search\` no longer has \`new-checkout\` as a prerequisite
- [ ] \`new-checkout\` in Staging is off, and the change is right there too
- [ ] The code no longer evaluates \`old-banner\`
- [ ] Tests and settings for the removed branch are gone
- [ ] After the release, the flags are archived in every environment
`);
});

it("falls back to 30 days and any reason", () => {
  expect(wantedOf({ days: 31 })).toEqual({ days: 30, reason: null, kept: false });
  expect(wantedOf({ days: 90, reason: "unchanged", kept: true })).toEqual({
    days: 90,
    reason: "unchanged",
    kept: true,
  });
});
