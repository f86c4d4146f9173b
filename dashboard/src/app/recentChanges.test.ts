import { describe, expect, it } from "vitest";
import type { Change } from "../api/changes";
import { concernedBy, newOnes } from "./recentChanges";

const change = (id: string, action = "flag.toggled", flagId: string | null = `flag-${id}`): Change => ({
  id,
  at: "2026-01-05T10:00:00Z",
  actor: { id: null, email: null, token: null, release: null },
  action,
  resource_id: `resource-${id}`,
  environment_id: "production",
  flag_id: flagId,
  flag_key: flagId && `key-${flagId}`,
  before: null,
  after: null,
  restores: null,
  batch: null,
});

describe("recent changes", () => {
  it("are those above the one that was known", () => {
    const [newest, newer, known, old] = ["4", "3", "2", "1"].map((id) => change(id));
    if (!newest || !newer || !known || !old) throw new Error("there are four");
    expect(newOnes([newest, newer, known, old], "2")).toEqual([newest, newer]);
    expect(newOnes([known, old], "2")).toEqual([]);
  });

  it("may be incomplete if the one that was known is too old", () => {
    expect(newOnes([change("9"), change("8")], "2")).toBeNull();
  });

  it("concern each flag once, by its values or by its rules", () => {
    const changes = [
      change("4", "flag.toggled", "a"),
      change("3", "flag.updated", "a"),
      change("2", "rule.created", "b"),
      change("1", "rule.deleted", "b"),
    ];
    expect(concernedBy(changes)).toEqual({
      lists: [],
      flags: [{ environmentId: "production", flagId: "a" }],
      rules: [{ environmentId: "production", flagId: "b" }],
      keys: ["key-a", "key-b"],
      others: [],
    });
  });

  it.each(["flag.created", "flag.deleted", "flag.archived", "flag.unarchived"])("change lists by %s", (action) => {
    expect(concernedBy([change("1", action)]).lists).toEqual(["production"]);
  });

  it("do not concern a flag that is gone", () => {
    const changes = [
      change("3", "flag.deleted", "a"),
      change("2", "rule.created", "a"),
      change("1", "flag.toggled", "a"),
    ];
    expect(concernedBy(changes)).toMatchObject({ lists: ["production"], flags: [], rules: [], others: [] });
  });

  it("concern other resources if they name no flag", () => {
    const changes = [change("2", "environment.updated", null), change("1", "sdk_key.created", null)];
    expect(concernedBy(changes)).toMatchObject({ others: ["environment", "sdk_key"], flags: [], keys: [] });
  });
});
