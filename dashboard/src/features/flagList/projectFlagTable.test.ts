import { expect, it } from "vitest";
import { differenceInWords, toProjectFlagsSearch } from "./projectFlagTable";

it("says in what flags differ", () => {
  expect(differenceInWords([])).toBe(null);
  expect(differenceInWords(["environments", "rules"])).toBe("Differs: not in every environment, rules");
});

it("reads the filters from the URL leniently", () => {
  expect(toProjectFlagsSearch({ q: 42, differs: "yes" })).toEqual({ q: "42" });
  expect(toProjectFlagsSearch({ q: "", differs: true })).toEqual({ differs: true });
});
