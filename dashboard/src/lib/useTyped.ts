/** What is being typed, which the address follows a moment later; and what the address says, when it changed otherwise. */

import { useDebouncedCallback } from "@mantine/hooks";
import { useState } from "react";

export function useTyped(addressed: string, delayMilliseconds: number, onSettle: (typed: string) => void) {
  const [typed, setTyped] = useState(addressed);
  const [settled, setSettled] = useState(addressed);
  const [seen, setSeen] = useState(addressed);
  if (seen !== addressed) {
    setSeen(addressed);
    if (addressed !== settled) {
      setTyped(addressed);
      setSettled(addressed);
    }
  }
  const settle = useDebouncedCallback((value: string) => {
    setSettled(value);
    onSettle(value);
  }, delayMilliseconds);
  const type = (value: string): void => {
    setTyped(value);
    settle(value);
  };
  return { typed, type };
}
