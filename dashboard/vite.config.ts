import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The server replaces this word with a new nonce on every page, for the few styles added at run time.
const NONCE = "FLAGSTAFF_NONCE";
const SERVER = "http://127.0.0.1:8000";

export default defineConfig({
  plugins: [react()],
  html: { cspNonce: NONCE },
  build: {
    outDir: process.env.FLAGSTAFF_STATIC ?? "../src/flagstaff/web/dashboard/static",
    emptyOutDir: true,
    assetsInlineLimit: 0, // the page's policy only allows fonts from its own origin
    modulePreload: { polyfill: false },
  },
  server: { proxy: { "^/(api|auth|sdk|docs|openapi.json)": SERVER } },
});
