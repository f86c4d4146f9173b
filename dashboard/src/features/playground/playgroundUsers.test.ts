import { expect, it } from "vitest";
import { playground as texts } from "./playgroundTexts";
import { contextOf, nameOf, readUsers } from "./playgroundUsers";

const problemsOf = (text: string) => readUsers(text).problems.map(({ line, message }) => [line, message]);

it("asks for users", () => {
  expect(problemsOf(" \n\n")).toEqual([[1, texts.noUsers]]);
  expect(problemsOf("user_id,plan\n")).toEqual([[1, texts.noUsers]]);
});

it("reads one id or email per line", () => {
  const { users, problems } = readUsers("\uFEFFuser-42\r\n\n  grace@example.com \n0042");
  expect(problems).toEqual([]);
  expect(users.map(({ line, id, email }) => [line, id, email])).toEqual([
    [1, "user-42", null],
    [3, null, "grace@example.com"],
    [4, "0042", null],
  ]);
});

it("refuses columns without a header, by line", () => {
  expect(problemsOf("user-1\nuser-2,gold\n\nuser-3\tfree")).toEqual([
    [2, texts.noHeader],
    [4, texts.noHeader],
  ]);
});

it.each([",", ";", "\t"])("reads a table whose columns are separated by %j", (separator) => {
  const text = 'User_ID,Email,plan,country\nada,,"gold",PT\n,grace@example.com,,\n,,free,US';
  const { users, problems } = readUsers(text.replaceAll(",", separator));
  expect(problems).toEqual([]);
  expect(users.map(contextOf)).toEqual([
    { user_id: "ada", user_email: null, custom_attributes: { plan: "gold", country: "PT" } },
    { user_id: null, user_email: "grace@example.com", custom_attributes: {} },
    { user_id: null, user_email: null, custom_attributes: { plan: "free", country: "US" } },
  ]);
  expect(users.map(nameOf)).toEqual(["ada", "grace@example.com", texts.nobody(4)]);
});

it("refuses a header that is ambiguous", () => {
  expect(problemsOf("user_id,plan,plan\na,b,c")).toEqual([[1, texts.columnTwice("plan")]]);
  expect(problemsOf("\nemail,user_email\na,b")).toEqual([[2, texts.columnTwice("user_email")]]);
  expect(problemsOf("user_id,\na,b")).toEqual([[1, texts.unnamedColumn(2)]]);
  expect(problemsOf('user_id,"plan\na,b')).toEqual([[1, texts.csv.open]]);
});

it("names the lines that do not fit the header, and those after fields with several lines", () => {
  expect(problemsOf('user_id,note\na,"one\ntwo"\nb\nc,d,e\nf,g"h"')).toEqual([
    [4, texts.wrongCount(1, 2)],
    [5, texts.wrongCount(3, 2)],
    [6, texts.csv.quote],
  ]);
});

it("keeps to the limits", () => {
  expect(problemsOf(`a\n${"x".repeat(1025)}`)).toEqual([[2, texts.tooLong(1024)]]);
  expect(problemsOf(Array.from({ length: 203 }, (_, place) => `user-${place}`).join("\n"))).toEqual([
    [201, texts.tooManyUsers(200, 203)],
  ]);
});

it("takes any name of a column for an attribute", () => {
  expect(readUsers("user_id,__proto__\na,b").users[0]?.attributes).toEqual(Object.fromEntries([["__proto__", "b"]]));
});
