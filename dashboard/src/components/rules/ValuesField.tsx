/** The values of a condition: one, or several with one per line. */

import { Textarea, TextInput } from "@mantine/core";
import type { ClipboardEvent, ReactNode } from "react";
import type { Operator } from "../../api/client";
import { kindOf, takesList } from "../../lib/conditions";
import { pastedLines } from "../../lib/conditionDrafts";
import { t } from "../../texts";

interface Props {
  readonly path: string;
  readonly operator: Operator;
  readonly text: string;
  readonly error: ReactNode;
  readonly onChange: (text: string) => void;
}

const ROWS = 3; // a list of thousands of values scrolls

export function ValuesField({ path, operator, text, error, onChange }: Props) {
  const hint = operator === "matches" ? t.conditions.matchesHint : t.conditions.valueHints[kindOf(operator)];
  const shared = { value: text, error, autoComplete: "off", spellCheck: false, "data-path": path };
  if (!takesList(operator)) {
    return (
      <TextInput
        label={t.conditions.value}
        description={hint || undefined}
        maxLength={1024}
        onChange={(event) => onChange(event.currentTarget.value)}
        {...shared}
      />
    );
  }
  const paste = (event: ClipboardEvent<HTMLTextAreaElement>) => {
    const lines = pastedLines(event.clipboardData.getData("text"));
    if (lines === null) return;
    event.preventDefault();
    const { selectionStart, selectionEnd } = event.currentTarget;
    onChange(text.slice(0, selectionStart) + lines + text.slice(selectionEnd));
  };
  const count = text.split("\n").filter((line) => line.trim()).length;
  return (
    <Textarea
      label={t.conditions.valuesLabel}
      description={[hint, t.conditions.valuesHint, count > 1 && `${t.conditions.count(count)}.`]
        .filter(Boolean)
        .join(" ")}
      rows={ROWS}
      onPaste={paste}
      onChange={(event) => onChange(event.currentTarget.value)}
      {...shared}
    />
  );
}
