// Compresses the built files once, as well as possible, so that the server never has to.

import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const output = process.env.FLAGSTAFF_STATIC ?? "../src/flagstaff/http/dashboard/static";
const WORTH_COMPRESSING = 512; // bytes

for (const name of await readdir(output, { recursive: true })) {
  if (!/\.(js|css|svg|txt)$/.test(name)) continue;
  const file = join(output, name);
  const content = await readFile(file);
  if (content.length < WORTH_COMPRESSING) continue;
  await writeFile(`${file}.gz`, gzipSync(content, { level: 9 }));
  await writeFile(`${file}.br`, brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
}
