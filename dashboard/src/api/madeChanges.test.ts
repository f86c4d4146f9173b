import { expect, it } from "vitest";
import { noteChange, takeChanges } from "./madeChanges";

it("gathers the changes of a project until they are taken", () => {
  noteChange("p", "1");
  noteChange("p", "2");
  expect(takeChanges()).toEqual({ projectId: "p", changes: ["1", "2"] });
  expect(takeChanges()).toBeNull();
});

it("forgets the changes of another project", () => {
  noteChange("p", "1");
  noteChange("q", "2");
  expect(takeChanges()).toEqual({ projectId: "q", changes: ["2"] });
});

it("notes nothing of a call that changed nothing or is in no project", () => {
  noteChange("p", null);
  noteChange(undefined, "1");
  expect(takeChanges()).toBeNull();
});
