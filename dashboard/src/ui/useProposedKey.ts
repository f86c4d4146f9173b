/** A key that follows the name until the user types one. */

import type { GetInputPropsReturnType } from "@mantine/form";
import { useState } from "react";

/** A form with a name and a key, among other fields. */
export interface NamedForm {
  readonly getValues: () => { readonly name: string; readonly key: string };
  readonly setFieldValue: (field: "name" | "key", value: string) => void;
  readonly getInputProps: (field: "name" | "key") => GetInputPropsReturnType;
}

export function useProposedKey(form: NamedForm, propose: (name: string) => string) {
  const [isOwn, setIsOwn] = useState(false);
  const onName = (name: string): void => {
    form.setFieldValue("name", name);
    if (!isOwn) form.setFieldValue("key", propose(name));
  };
  const onKey = (key: string): void => {
    form.setFieldValue("key", key);
    setIsOwn(key !== "" && key !== propose(form.getValues().name));
  };
  return { onName, onKey };
}
