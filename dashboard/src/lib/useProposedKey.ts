/** A key that follows the name as long as nobody has typed one. */

import { useState } from "react";

interface Keyed {
  readonly name: string;
  readonly key: string;
}

interface Form {
  readonly getValues: () => Keyed;
  readonly setFieldValue: (field: "name" | "key", value: string) => void;
}

export function useProposedKey(form: Form, propose: (name: string) => string) {
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
