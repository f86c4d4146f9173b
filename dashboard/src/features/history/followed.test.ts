import { expect, it } from "vitest";
import { MOST_NEW, sinceNewest, withNewest } from "./followed";

const entry = (second: number) => ({
  id: `id-${String(second).padStart(4, "0")}`,
  evaluated_at: new Date(Date.UTC(2026, 10, 20) + second * 1000).toISOString(),
});
const entries = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, index) => entry(from - index));
const page = (from: number, to: number) => ({ items: entries(from, to), next_cursor: "older" });
const seconds = (pages: ReturnType<typeof withNewest>) =>
  pages?.map(({ items }) => items.map(({ id }) => Number(id.slice(3))));

it("asks for what may have been recorded late", () => {
  expect(sinceNewest(entry(10))).toBe("2026-11-20T00:00:05.000Z");
});

it("adds unknown entries by their time, late ones too, and leaves the older pages", () => {
  const pages = [{ ...page(6, 3), items: [entry(6), entry(4), entry(3)] }, page(2, 1)];
  expect(seconds(withNewest(pages, entries(8, 2)))).toEqual([
    [8, 7, 6, 5, 4, 3],
    [2, 1],
  ]);
});

it("leaves the pages as they are if there is nothing new", () => {
  const pages = [page(4, 3), page(2, 1)];
  expect(withNewest(pages, entries(4, 2))).toBe(pages);
});

it("has the first page loaded again if entries may be missing in between", () => {
  expect(withNewest([page(4, 3)], entries(MOST_NEW + 50, 51))).toBeNull();
  expect(withNewest([page(51, 3)], entries(MOST_NEW + 50, 51))).not.toBeNull();
});

it("has the first page loaded again before it becomes too long", () => {
  expect(withNewest([page(200, 2)], entries(201, 200))).not.toBeNull();
  expect(withNewest([page(200, 1)], entries(201, 200))).toBeNull();
});
