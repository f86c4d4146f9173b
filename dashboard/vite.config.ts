import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { groups } from "./chunks.ts";
import { thirdPartyNotices } from "./notices.ts";

// The server replaces this word with a new nonce on every page, for the few styles added at run time.
const NONCE = "FLAGSTAFF_NONCE";
const SERVER = "http://127.0.0.1:8000";

export default defineConfig({
  plugins: [react(), thirdPartyNotices()],
  html: { cspNonce: NONCE },
  base: "./", // files name each other; in the page, the server replaces the dot with its path prefix
  build: {
    outDir: process.env.FLAGSTAFF_STATIC ?? "../src/flagstaff/http/dashboard/static",
    emptyOutDir: true,
    assetsInlineLimit: 0, // the page's policy only allows fonts from its own origin
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000, // of `main` before compression
    rolldownOptions: { output: { codeSplitting: { groups } } },
  },
  server: { proxy: { "^/(api|auth|sdk|docs|openapi.json)": SERVER } },
});
