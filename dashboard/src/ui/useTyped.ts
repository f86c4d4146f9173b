/** The text being typed. The URL follows it with a delay, and sets it when it changes in another way. */

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
