/**
 * Adds the licenses of the packages that the build contains, as `third-party-notices.txt`. The same text stands in
 * THIRD-PARTY-NOTICES.txt, where it can be read without a build, and becomes part of the wheel: a build that contains
 * other packages or versions fails until `make notices` has renewed it.
 */

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Plugin } from "vite";

const KEPT = join(import.meta.dirname, "THIRD-PARTY-NOTICES.txt");
const LICENSE_FILE = /^(licen[cs]e|notice|copying)(\.|-|$)/i;
const INTRODUCTION = `The dashboard of Flagstaff contains the following packages. Each is followed by its license.
`;

const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use,
copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom
the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

/** The folder of the package that a file belongs to, or null if the file is one of ours. */
function packageOf(file: string): string | null {
  return /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file.replaceAll("\\", "/"))?.[1] ?? null;
}

function noticeOf(folder: string): string {
  const about = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Record<string, unknown>;
  const title = `${String(about.name)} ${String(about.version)} (${String(about.license)})`;
  const texts = readdirSync(folder)
    .filter((name) => LICENSE_FILE.test(name))
    .sort()
    .map((name) => readFileSync(join(folder, name), "utf8").replaceAll("\r\n", "\n").trim());
  if (texts.length === 0) texts.push(standardText(title, about));
  return [title, "=".repeat(title.length), "", texts.join("\n\n"), ""].join("\n");
}

/** The text for a package that only states the name of its license. */
function standardText(title: string, { author, license, repository }: Record<string, unknown>): string {
  if (license !== "MIT") throw new Error(`${title} has no text of its license.`);
  const address = typeof repository === "object" && repository && "url" in repository ? repository.url : repository;
  const name = typeof author === "object" && author && "name" in author ? author.name : author;
  return `Copyright (c) ${String(name)}, ${String(address)}\n\n${MIT}`;
}

export function thirdPartyNotices(): Plugin {
  return {
    name: "third-party-notices",
    apply: "build",
    generateBundle(_, bundle) {
      const folders = new Set<string>();
      for (const each of Object.values(bundle)) {
        const files = each.type === "chunk" ? Object.keys(each.modules) : each.originalFileNames;
        for (const file of files) folders.add(packageOf(resolve(import.meta.dirname, file)) ?? "");
      }
      folders.delete("");
      const source = [INTRODUCTION, ...[...folders].map(noticeOf).sort()].join("\n\n");
      if (process.env.FLAGSTAFF_NOTICES === "write") writeFileSync(KEPT, source);
      else if (!existsSync(KEPT) || readFileSync(KEPT, "utf8") !== source)
        throw new Error("THIRD-PARTY-NOTICES.txt does not name the packages of this build: run make notices");
      this.emitFile({ type: "asset", fileName: "third-party-notices.txt", source });
    },
  };
}
