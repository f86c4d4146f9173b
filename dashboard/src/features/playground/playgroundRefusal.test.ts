import { expect, it } from "vitest";
import { Problem } from "../../api/problem";
import { refusalInWords } from "./playgroundRefusal";
import { readUsers } from "./playgroundUsers";

it("names the line of a user and the key of a flag", () => {
  const asked = { users: readUsers("ada\n\nbob").users, flags: ["gone"] };
  const refusal = new Problem(400, "The request is invalid.", [
    { field: "users.1.custom_attributes", message: "must have at most 8,192 bytes" },
    { field: "flag_keys.0", message: "must be the key of a flag of one of the environments" },
    { field: "users", message: "must not be empty" },
  ]);
  expect(refusalInWords(refusal, asked)).toBe(
    "Line 3 custom_attributes must have at most 8,192 bytes. " +
      "gone must be the key of a flag of one of the environments. users must not be empty.",
  );
  expect(refusalInWords(new Problem(0, "The server cannot be reached."), asked)).toBe("The server cannot be reached.");
});
