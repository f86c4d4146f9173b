import "./lib/resetToken"; // first: it takes the token out of the address bar before anything else runs
import "@fontsource-variable/inter/wght.css";
import "@fontsource-variable/jetbrains-mono/wght.css";
import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "./styles.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Problem } from "./api/problem";
import { App } from "./app";

/** A refused call is shown where its answer was to stand; everything else that a page catches is a fault of ours. */
function reportFault(error: unknown): void {
  if (!(error instanceof Problem)) reportError(error);
}

const root = document.getElementById("root");
if (root) {
  createRoot(root, { onCaughtError: reportFault }).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}
