/** Reads CSV as in RFC 4180, and writes it for spreadsheets. */

export type CsvProblem = "open" | "quote";

export interface CsvRow {
  /** The number of its first line. */
  readonly line: number;
  readonly cells: readonly string[];
  /** A quoted field that does not end, or a quotation mark in the wrong place. */
  readonly problem: CsvProblem | null;
}

const LINE_END = /\r\n|\r|\n/g;
// A spreadsheet treats a cell that begins like this as a formula, so the author of the text could make it run one. Some
// treat the wide forms of East Asian keyboards in the same way.
const FORMULA = /^[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n]/;
const NEEDS_QUOTES = /[",\r\n]/;

/** The rows that are not empty. Fields without quotation marks lose the spaces around them. */
export function readCsv(text: string, separator: string): CsvRow[] {
  const rows: CsvRow[] = [];
  // After a field comes a separator, the end of the line, or the end of the text.
  const field = new RegExp(`[ ]*"((?:[^"]|"")*)"[ ]*(?=${separator}|\\r|\\n|$)|([^"${separator}\\r\\n]*)`, "y");
  let at = 0;
  let line = 1;
  while (at < text.length) {
    const { cells, end, problem } = readRow(text, at, separator, field);
    if (problem !== null || cells.some((cell) => cell !== "")) rows.push({ line, cells, problem });
    line += text.slice(at, end).match(LINE_END)?.length ?? 0;
    at = end;
  }
  return rows;
}

function readRow(text: string, start: number, separator: string, field: RegExp) {
  const cells: string[] = [];
  let at = start;
  for (;;) {
    field.lastIndex = at;
    const [whole, quoted, plain = ""] = field.exec(text) ?? [""];
    cells.push(quoted === undefined ? plain.trim() : quoted.replaceAll('""', '"'));
    at += whole.length;
    if (text[at] !== separator) break;
    at += 1;
  }
  if (text[at] === '"') {
    const isClosed = text
      .slice(at + 1)
      .replaceAll('""', "")
      .includes('"');
    return { cells, end: afterLine(text, at), problem: isClosed ? ("quote" as const) : ("open" as const) };
  }
  return { cells, end: afterLine(text, at), problem: null };
}

function afterLine(text: string, at: number): number {
  LINE_END.lastIndex = at;
  return LINE_END.exec(text) ? LINE_END.lastIndex : text.length;
}

/** Rows as CSV, with an apostrophe before texts that a spreadsheet would treat as a formula. */
export function writeCsv(rows: readonly (readonly string[])[]): string {
  return rows.map((cells) => `${cells.map(written).join(",")}\r\n`).join("");
}

function written(cell: string): string {
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
