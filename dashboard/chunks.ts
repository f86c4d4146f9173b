/**
 * How the build divides the code into files, so that a page loads few of them. `main` has what every page needs, and what
 * the list of flags and a flag's page share with others; `flag` has the rest of a flag's page, `live` what follows
 * changes, and `dialogs` what many dialogs use. Everything else is in a file for each set of modules that the same pages
 * use.
 */

import { readdirSync } from "node:fs";

interface Chunking {
  readonly getModuleInfo: (
    id: string,
  ) => { readonly importedIds: readonly string[]; readonly dynamicallyImportedIds: readonly string[] } | null;
}

const SOURCES = `${import.meta.dirname.replaceAll("\\", "/")}/src/`;
const MAIN = `${SOURCES}app/main.tsx`;
const LIST = `${SOURCES}features/flagList/FlagsPage.tsx`;
const FLAG = `${SOURCES}features/flagPage/FlagPage.tsx`;
/** Other uses of parts of a flag's page: other pages, and what they load later. */
const BESIDE_FLAG = [
  ...readdirSync(`${SOURCES}features`, { recursive: true })
    .map((name) => `${SOURCES}features/${String(name).replaceAll("\\", "/")}`)
    .filter((path) => path.endsWith("Page.tsx") && path !== FLAG),
  `${SOURCES}features/flags/TurnOnDialog.tsx`,
  `${SOURCES}features/requestMetrics/RequestMetrics.tsx`,
];
/** Tables, and lists in pages and in parts, which most pages have. */
const LISTS = /[\\/]src[\\/]ui[\\/](DataTable|Pages)\.tsx?$/;
/**
 * The library's core, and the fields and forms of both. Other libraries follow those of our modules that import them.
 */
const LIBRARY =
  /[\\/]@mantine[\\/](form|hooks[\\/]esm[\\/]use-resize-observer|core[\\/]esm[\\/](core|components[\\/](FloatingIndicator|Input|InputBase|NativeSelect|SegmentedControl|TextInput)))[\\/]/;
/** What many pages and dialogs use, but others of them do not. */
const PARTS = {
  accounts: /[\\/](AccountForm|PasswordInput)[\\/.]/,
  changes: /[\\/]src[\\/].*[\\/](Chang|chang|Restor|restor|ChartLink|markers)[^\\/]*$/,
  choices: /[\\/]@mantine[\\/]core[\\/]esm[\\/]components[\\/](Combobox|ScrollArea)[\\/]/,
  fields: /[\\/]@mantine[\\/]core[\\/]esm[\\/]components[\\/](Checkbox|Textarea)[\\/]/,
};
const MANY = 8;

/** Our modules that a module needs, directly or through others, and those that they load later. */
function needsOf(id: string, chunking: Chunking, needed = new Set<string>(), later = new Set<string>()) {
  if (needed.has(id) || !id.startsWith(SOURCES)) return { needed, later };
  needed.add(id);
  const info = chunking.getModuleInfo(id);
  for (const each of info?.dynamicallyImportedIds ?? []) later.add(each);
  for (const each of info?.importedIds ?? []) needsOf(each, chunking, needed, later);
  return { needed, later };
}

/** Everything that is loaded later than `main`. */
function entriesOf(chunking: Chunking): ReadonlySet<string> {
  const entries = new Set(needsOf(MAIN, chunking).later);
  for (const entry of entries) for (const each of needsOf(entry, chunking).later) entries.add(each); // which grows meanwhile
  return entries;
}

function divide(chunking: Chunking) {
  const list = needsOf(LIST, chunking).needed;
  const flag = needsOf(FLAG, chunking).needed;
  const main = needsOf(MAIN, chunking).needed;
  const share = (ids: ReadonlySet<string>, others: Iterable<string>) => {
    for (const other of others) for (const id of needsOf(other, chunking).needed) if (ids.has(id)) main.add(id);
  };
  share(
    list,
    [...entriesOf(chunking)].filter((entry) => entry !== LIST),
  );
  share(flag, BESIDE_FLAG);
  return { main, flag };
}

let divided: ReturnType<typeof divide> | undefined;

function fileOf(id: string, chunking: Chunking): string | null {
  divided ??= divide(chunking);
  return divided.main.has(id) || LISTS.test(id) || LIBRARY.test(id) ? "main" : null;
}

export const groups = [
  { debugName: "main", name: fileOf, priority: 4 },
  { debugName: "flag", name: (id: string) => (divided?.flag.has(id) ? "flag" : null), priority: 3 },
  { name: "live", test: `${SOURCES}app/live.ts`, priority: 2 },
  ...Object.entries(PARTS).map(([name, test]) => ({ name, test, minShareCount: MANY, priority: 2 })),
  { name: "dialogs", minShareCount: MANY, priority: 1 },
];
