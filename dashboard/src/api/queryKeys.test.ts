import { QueryClient } from "@tanstack/react-query";
import { expect, it } from "vitest";
import { allOf, keyOf, outdate, outdateAllBut } from "./queryKeys";

const FLAG = "/api/projects/{project_id}/environments/{env_id}/flags/{flag_id}";
const RULES = `${FLAG}/rules` as const;
const SEGMENTS = "/api/projects/{project_id}/segments";
const flag = { project_id: "p", env_id: "e", flag_id: "f" };

async function outdatedAfter(act: (cache: QueryClient) => Promise<unknown>) {
  const cache = new QueryClient();
  const keys = [keyOf(FLAG, flag), keyOf(RULES, flag), keyOf(RULES, { ...flag, flag_id: "g" }), keyOf(SEGMENTS, flag)];
  for (const key of keys) cache.setQueryData(key, {});
  await act(cache);
  return keys.map((key) => cache.getQueryState(key)?.isInvalidated);
}

it("takes only the ids that are in the path", () => {
  expect(keyOf(SEGMENTS, flag)).toEqual([SEGMENTS, { project_id: "p" }]);
  expect(keyOf("/api/projects", flag, { limit: 1 })).toEqual(["/api/projects", {}, { limit: 1 }]);
});

it("marks all reads of an operation that have the given ids as outdated", async () => {
  expect(await outdatedAfter((cache) => outdate(cache, { queryKey: keyOf(RULES, flag) }))).toEqual([
    false,
    true,
    false,
    false,
  ]);
  expect(await outdatedAfter((cache) => outdate(cache, ...allOf([RULES], { env_id: "e" })))).toEqual([
    false,
    true,
    true,
    false,
  ]);
  expect(await outdatedAfter((cache) => outdate(cache, ...allOf([FLAG, SEGMENTS])))).toEqual([
    true,
    false,
    false,
    true,
  ]);
  expect(await outdatedAfter((cache) => outdate(cache, ...allOf([FLAG], { env_id: "other" })))).not.toContain(true);
});

it("marks everything else as outdated", async () => {
  expect(await outdatedAfter((cache) => outdateAllBut(cache, FLAG, SEGMENTS))).toEqual([false, true, true, false]);
});
