import { describe, expect, it } from "vitest";
import { placesAmong, priorityAtEnd, reorder } from "./priorities";

const rules = (...priorities: number[]) => priorities.map((priority, index) => ({ id: `r${index}`, priority }));

function orderAfter(before: { id: string; priority: number }[], from: number, to: number): string[] {
  const changed = new Map(reorder(before, from, to).map((each) => [each.id, each.priority]));
  return before
    .map((rule) => ({ ...rule, priority: changed.get(rule.id) ?? rule.priority }))
    .toSorted((a, b) => b.priority - a.priority)
    .map((rule) => rule.id);
}

describe("reorder", () => {
  it("changes nothing if the rule does not move", () => {
    expect(reorder(rules(2, 1), 0, 0)).toEqual([]);
    expect(reorder(rules(2, 1), 0, 2)).toEqual([]);
    expect(reorder(rules(2, 1), 5, 0)).toEqual([]);
  });

  it("changes one rule if there is room", () => {
    expect(reorder(rules(30, 20, 10), 2, 1)).toEqual([{ id: "r2", priority: 25 }]);
  });

  it("gives all rules new priorities if there is no room", () => {
    expect(reorder(rules(0, 0, 0), 2, 0)).toEqual([{ id: "r2", priority: 10 }]);
    expect(orderAfter(rules(0, 0, 0), 2, 1)).toEqual(["r0", "r2", "r1"]);
    expect(orderAfter(rules(2, 1, 0), 0, 1)).toEqual(["r1", "r0", "r2"]);
  });

  it("moves every rule to every position, even at the limits of a priority", () => {
    for (const before of [rules(3, 2, 1, 0), rules(0, 0, 0, 0), rules(2 ** 31 - 1, 5, 5, -(2 ** 31))]) {
      for (const from of before.keys()) {
        for (const to of before.keys()) {
          const wanted = before.map((rule) => rule.id);
          const [moved = ""] = wanted.splice(from, 1);
          wanted.splice(to, 0, moved);
          expect(orderAfter(before, from, to)).toEqual(wanted);
        }
      }
    }
  });
});

it("adds a new rule after all others", () => {
  expect(priorityAtEnd([])).toBe(0);
  expect(priorityAtEnd(rules(5, -5))).toBe(-15);
  expect(priorityAtEnd(rules(-(2 ** 31)))).toBe(-(2 ** 31));
});

describe("placesAmong", () => {
  it("offers each place between others, and keeps the priority of its own", () => {
    expect(placesAmong(rules(20, 10), 15)).toEqual([
      { after: null, priority: 30 },
      { after: "r0", priority: 15 },
      { after: "r1", priority: 0 },
    ]);
  });

  it("leaves out places that would change other rules", () => {
    expect(placesAmong(rules(1, 1, 0), 0)).toEqual([
      { after: null, priority: 11 },
      { after: "r2", priority: 0 },
    ]);
  });

  it("has one place without others", () => {
    expect(placesAmong([], 7)).toEqual([{ after: null, priority: 7 }]);
  });
});
