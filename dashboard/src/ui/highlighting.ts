/** Colours for example code; loaded when some is shown. */

import highlighter from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import csharp from "highlight.js/lib/languages/csharp";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";

const languages = { bash, csharp, go, java, javascript, json, php, python, ruby, rust };
export type CodeLanguage = keyof typeof languages;

for (const [name, language] of Object.entries(languages)) highlighter.registerLanguage(name, language);

/** Code as HTML, in which the highlighter has escaped it. */
export function highlighted(code: string, language: CodeLanguage): string {
  return highlighter.highlight(code, { language }).value;
}
