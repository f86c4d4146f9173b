import "../features/identity/linkToken"; // first, because it removes the token from the address bar before anything else runs
import "../features/identity/providerAnswer"; // for the same reason, and after it, because it may restore the token
import "@fontsource-variable/inter/wght.css";
import "@fontsource-variable/jetbrains-mono/wght.css";
import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "./styles.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Problem } from "../api/problem";
import { App } from "./App";
import "./highlightedOption";
import { isMissingCode } from "../ui/missingCode";

/** The error of a call, or of loading code, is shown in place of its page. Any other error that a page catches is a bug. */
function reportFault(error: unknown): void {
  if (!(error instanceof Problem || isMissingCode(error))) reportError(error);
}

const root = document.getElementById("root");
if (root) {
  createRoot(root, { onCaughtError: reportFault }).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}
