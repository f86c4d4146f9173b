import { expect, it } from "vitest";
import { missingInWords } from "./missingInstances";

it.each<Record<string, string>>([{}, { "Flagstaff-Live-On": "3/3" }, { "Flagstaff-Live-On": "many" }])(
  "says nothing if no instance is missing: %o",
  (headers) => {
    expect(missingInWords(new Headers(headers))).toBeNull();
  },
);

it("names the instances that may not serve the change", () => {
  const headers = new Headers({ "Flagstaff-Live-On": "1/3", "Flagstaff-Missing": "b:8000, c:8000" });
  expect(missingInWords(headers)).toEqual({
    title: "The change is live on 1 of 3 instances",
    message: expect.stringContaining("Not heard from: b:8000, c:8000.") as string,
  });
});
