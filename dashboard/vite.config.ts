import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

// The server replaces this word with a new nonce on every page, for the few styles added at run time.
const NONCE = "FLAGSTAFF_NONCE";
// What only dialogs use, of which there are many, does not load with the first page.
const NOT_OF_DIALOGS =
  /^(?!.*[\\/](AccountForm|Autosize|Change\w*|change\w*|ConfirmDialog|DialogForm|fields|impact|lastChange|merge\w*|Password\w+|Textarea|Turn\w+|turn(On|edOn)|use(Draft|Editor|Newest))\.(tsx?|mjs)$)/;
const SERVER = "http://127.0.0.1:8000";

/** Puts the library's styles first: Vite links those of the shared file before them, and ours must override them. */
function libraryStylesFirst(): Plugin {
  const link = /\n *<link rel="stylesheet"[^>]*\/base-[^>]*>/;
  return {
    name: "library-styles-first",
    transformIndexHtml: {
      order: "post",
      handler(page, { bundle }) {
        if (!bundle) return page; // when developing, styles come in the order of their imports
        const [base] = link.exec(page) ?? [];
        if (!base) throw new Error("The page does not link the library's styles.");
        return page.replace(base, "").replace(/\n *<link rel="stylesheet"/, `${base}$&`);
      },
    },
  };
}

export default defineConfig({
  plugins: [react(), libraryStylesFirst()],
  html: { cspNonce: NONCE },
  build: {
    outDir: process.env.FLAGSTAFF_STATIC ?? "../src/flagstaff/http/dashboard/static",
    emptyOutDir: true,
    assetsInlineLimit: 0, // the page's policy only allows fonts from its own origin
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: "base", test: /[\\/]styles\.css$/, priority: 2 },
            // What many pages use is in one file. Otherwise each page would load about seventy scripts.
            { name: "shared", test: NOT_OF_DIALOGS, minShareCount: 8, priority: 1 },
          ],
        },
      },
    },
  },
  server: { proxy: { "^/(api|auth|sdk|docs|openapi.json)": SERVER } },
});
