/** Copies a text, and confirms it for a moment. */

import { useTimeout } from "@mantine/hooks";
import { useState } from "react";

const TOLD_MILLISECONDS = 1500;

export function useCopying(text: string) {
  const [copied, setCopied] = useState(false);
  const { start } = useTimeout(() => setCopied(false), TOLD_MILLISECONDS);
  const copy = async () => {
    await write(text);
    setCopied(true);
    start();
  };
  return { copied, copy };
}

/** Pages loaded over plain HTTP, as in many internal networks, can use only the deprecated way to copy. */
export async function write(text: string): Promise<void> {
  if (window.isSecureContext) return navigator.clipboard.writeText(text);
  const fill = (event: ClipboardEvent) => {
    event.clipboardData?.setData("text/plain", text);
    event.preventDefault();
  };
  document.addEventListener("copy", fill, { once: true });
  // oxlint-disable-next-line typescript/no-deprecated -- there is no other way
  document.execCommand("copy");
}
