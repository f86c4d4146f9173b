import { expect, it } from "vitest";
import { Problem } from "../../api/problem";
import { type Attribute, contextOf, nameOf, NOBODY, withAttributeType } from "./simulatedUser";

const asked = (...attributes: Attribute[]) => ({ ...NOBODY, userId: " ada ", attributes });

it("sends attributes as their types", () => {
  const context = contextOf(
    asked(
      { name: " plan ", type: "text", text: "42" },
      { name: "age", type: "number", text: "42" },
      { name: "beta", type: "boolean", text: "false" },
      { name: "roles", type: "list", text: "admin\n\n owner " },
      { name: " ", type: "number", text: "ignored" },
    ),
  );
  expect(context).toEqual({
    user_id: "ada",
    user_email: null,
    custom_attributes: { plan: "42", age: 42, beta: false, roles: ["admin", "owner"] },
  });
});

it("sends no attributes if there are none", () => {
  expect(contextOf(NOBODY)).toEqual({ user_id: null, user_email: null });
});

it.each(["", "many", "1e999", "NaN"])("refuses %j as a number at its field", (text) => {
  const send = () => contextOf(asked({ name: "a", type: "text", text }, { name: "b", type: "number", text }));
  expect(send).toThrow(Problem);
  try {
    send();
  } catch (error) {
    expect((error as Problem).fields.map((each) => each.field)).toEqual(["attributes.1.text"]);
  }
});

it("names the user in one line", () => {
  expect(nameOf({ ...asked({ name: "roles", type: "list", text: "a\nb" }), userId: "ada" })).toBe("ada, roles: a,b");
  expect(nameOf(NOBODY)).toContain("without an id");
});

it("starts a boolean with a value that it can have", () => {
  expect(withAttributeType({ name: "beta", type: "text", text: "yes" }, "boolean").text).toBe("true");
});
