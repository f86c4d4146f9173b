import { expect, it } from "vitest";
import { readCsv, writeCsv } from "./csv";

const cells = (text: string, separator = ",") => readCsv(text, separator).map((row) => row.cells);

it("reads fields, also quoted ones with separators, marks and lines, and every kind of line end", () => {
  expect(cells('a,"b, ""c""\nd" ,\r\n\r\n e ,f,g\rh,,"i"')).toEqual([
    ["a", 'b, "c"\nd', ""],
    ["e", "f", "g"],
    ["h", "", "i"],
  ]);
  expect(cells("a;b,c\td", ";")).toEqual([["a", "b,c\td"]]);
  expect(cells("a\t\tb", "\t")).toEqual([["a", "", "b"]]);
});

it("says in which line a row begins, and what is wrong with it", () => {
  const rows = readCsv('a,b\n"x\ny",z\n\nbad"mark,b\n"after"x,b\nlast,"open\nstill', ",");
  expect(rows.map(({ line, problem }) => [line, problem])).toEqual([
    [1, null],
    [2, null],
    [5, "quote"],
    [6, "quote"],
    [7, "open"],
    [8, null],
  ]);
});

it("writes what it reads", () => {
  const rows = [
    ["a", 'b"c', "d,e"],
    ["", "f\r\ng", "h"],
  ];
  expect(cells(writeCsv(rows))).toEqual(rows);
});

it("lets no spreadsheet run a formula", () => {
  expect(writeCsv([["=1+1", "+1", "-1", "@x", "\tx", "a=1"]])).toBe("'=1+1,'+1,'-1,'@x,'\tx,a=1\r\n");
  expect(writeCsv([["\uff1d1+1", "\uff0b1", "\uff0d1", "\uff20x"]])).toBe("'\uff1d1+1,'\uff0b1,'\uff0d1,'\uff20x\r\n");
});
