import { QueryClient } from "@tanstack/react-query";
import { beforeEach, expect, it } from "vitest";
import { FLAG, FLAGS, PROJECT_FLAGS, type ProjectFlag, showFlag, showRow } from "./flagCache";
import { keyOf } from "../../api/queryKeys";

const PATH = { project_id: "p", env_id: "e" };
const LIST = keyOf(FLAGS, PATH);
const ONE = keyOf(FLAG, { ...PATH, flag_id: "a" });
const ROWS = keyOf(PROJECT_FLAGS, PATH, "parts", {});
const flag = { id: "a", key: "new-checkout", name: "Checkout", enabled: false, variants: [{ key: "blue" }] };
const other = { ...flag, id: "b", key: "dark-mode" };
const rowOf = ({ id, key, enabled }: typeof flag) => ({ key, differs: [], flags: [{ id, enabled, variants: 1 }] });

let cache: QueryClient;
beforeEach(() => {
  cache = new QueryClient();
  cache.setQueryData(LIST, [flag, other]);
  cache.setQueryData(ONE, flag);
  cache.setQueryData(ROWS, { pages: [{ items: [rowOf(flag), rowOf(other)], next: null }], pageParams: [""] });
});

it("shows a flag in each list, on its own and in the rows of all environments", () => {
  showFlag(cache, { id: "a", enabled: true });
  expect(cache.getQueryData(LIST)).toEqual([{ ...flag, enabled: true }, other]);
  expect(cache.getQueryData(ONE)).toEqual({ ...flag, enabled: true });
  expect(cache.getQueryData(ROWS)).toMatchObject({
    pages: [{ items: [rowOf({ ...flag, enabled: true }), rowOf(other)] }],
  });
});

it("gives a row only the fields that it has, and keeps its counts", () => {
  showFlag(cache, { ...flag, name: "Payment", enabled: true, variants: [] });
  expect(cache.getQueryData(ONE)).toMatchObject({ name: "Payment", variants: [] });
  expect(cache.getQueryData(ROWS)).toMatchObject({
    pages: [{ items: [rowOf({ ...flag, enabled: true }), rowOf(other)] }],
  });
});

it("leaves data without the flag as it is, outdated or not", async () => {
  await cache.invalidateQueries({ queryKey: LIST });
  const before = cache.getQueryState(LIST);
  showFlag(cache, { id: "c", enabled: true });
  expect(cache.getQueryState(LIST)).toBe(before);
});

it("shows a row where its key is, but not in place of a flag", () => {
  const row = { ...rowOf({ ...flag, enabled: true }), differs: ["state"] } as unknown as ProjectFlag;
  showRow(cache, row);
  expect(cache.getQueryData(ROWS)).toMatchObject({ pages: [{ items: [row, rowOf(other)] }] });
  expect(cache.getQueryData(LIST)).toEqual([flag, other]);
});

it("shows a flag in rows that were found, and in a row on its own", () => {
  const [found, alone] = [keyOf(PROJECT_FLAGS, PATH, { q: "new" }), keyOf(PROJECT_FLAGS, PATH, "key", flag.key)];
  cache.setQueryData(found, [rowOf(flag), rowOf(other)]);
  cache.setQueryData(alone, rowOf(flag));
  cache.setQueryData(keyOf(PROJECT_FLAGS, PATH, "key", "gone"), null);
  showFlag(cache, { id: "a", enabled: true });
  const shown = rowOf({ ...flag, enabled: true });
  expect([cache.getQueryData(found), cache.getQueryData(alone)]).toEqual([[shown, rowOf(other)], shown]);
});
