/** A form whose values are kept as a draft while they are not saved. */

import { useForm } from "@mantine/form";
import { useEffect, useRef, useState } from "react";
import { type Draft, findDraft, forgetDraft, keepDraft } from "./drafts";
import { equal } from "../../api/equal";

export function useDraft<Values extends object>(key: string, initial: Values, resource: object | null = null) {
  const [start, setStart] = useState({ values: initial, resource });
  const [found, setFound] = useState<Draft | null>(() => findDraft(key));
  /** The state that the edits are based on. */
  const [base, setBase] = useState<object | null>(() => (found ? (found.base as object | null) : resource));
  const form = useForm<Values>({ initialValues: (found?.values as Values | undefined) ?? initial });
  const hasEnded = useRef(false);
  const { values } = form;
  useEffect(() => {
    if (hasEnded.current) return;
    if (equal(values, start.values)) forgetDraft(key);
    else keepDraft(key, { base, values, at: Date.now(), isOpen: true });
  }, [key, values, start, base]);
  /** Removes the draft, because it was saved or discarded. */
  const end = (): void => {
    hasEnded.current = true;
    forgetDraft(key);
  };
  /** Continues with the saved state, in a form that stays open. */
  const restart = (saved: object, savedValues: Values): void => {
    setStart({ values: savedValues, resource: saved });
    setFound(null);
    setBase(saved);
    form.setValues(savedValues);
  };
  const discard = (): void => {
    setFound(null);
    setBase(start.resource);
    form.setValues(start.values);
    form.clearErrors();
  };
  return { form, base, found, accept: () => setFound(null), discard, restart, end };
}
