/** The values of a condition: one, or several with one per line. */

import { Textarea, TextInput } from "@mantine/core";
import { type ClipboardEvent, type ReactNode, useRef, useState } from "react";
import type { Operator } from "../../../api/client";
import { kindOf, takesList } from "../../../ui/conditions/conditions";
import { linesOf, pastedValues } from "../../../ui/conditions/conditionDrafts";
import { conditionsTexts } from "../../../ui/conditions/conditionsTexts";
import { PastedValues } from "./PastedValues";

interface Props {
  readonly path: string;
  readonly operator: Operator;
  readonly text: string;
  readonly error: ReactNode;
  readonly onChange: (text: string) => void;
}

const ROWS = 3; // a list of thousands of values scrolls

export function ValuesField({ path, operator, text, error, onChange }: Props) {
  const hint = operator === "matches" ? conditionsTexts.matchesHint : conditionsTexts.valueHints[kindOf(operator)];
  const shared = { value: text, error, autoComplete: "off", spellCheck: false, "data-path": path };
  if (!takesList(operator)) {
    return (
      <TextInput
        label={conditionsTexts.value}
        description={hint || undefined}
        maxLength={1024}
        onChange={(event) => onChange(event.currentTarget.value)}
        {...shared}
      />
    );
  }
  return <ListField hint={hint} text={text} onChange={onChange} {...shared} />;
}

/** What was pasted, its values, and the text around it. */
interface Paste {
  readonly raw: string;
  readonly values: readonly string[];
  readonly before: string;
  readonly after: string;
}

type ListProps = Pick<Props, "text" | "error" | "onChange"> & {
  readonly hint: string;
  readonly value: string;
  readonly autoComplete: string;
  readonly spellCheck: boolean;
  readonly "data-path": string;
};

function ListField({ hint, text, onChange, ...shared }: ListProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const [pasted, setPasted] = useState<Paste | null>(null);
  const paste = (event: ClipboardEvent<HTMLTextAreaElement>) => {
    const raw = event.clipboardData.getData("text");
    const values = pastedValues(raw);
    if (values === null) return;
    event.preventDefault();
    const { selectionStart, selectionEnd } = event.currentTarget;
    setPasted({ raw, values, before: text.slice(0, selectionStart), after: text.slice(selectionEnd) });
  };
  const end = (insert?: (paste: Paste) => string) => {
    if (pasted !== null && insert !== undefined) onChange(insert(pasted));
    setPasted(null);
    field.current?.focus();
  };
  const count = linesOf(text).length;
  return (
    <div>
      <Textarea
        ref={field}
        label={conditionsTexts.valuesLabel}
        description={[hint, conditionsTexts.valuesHint, count > 1 && `${conditionsTexts.count(count)}.`]
          .filter(Boolean)
          .join(" ")}
        rows={ROWS}
        readOnly={pasted !== null}
        onPaste={paste}
        onChange={(event) => onChange(event.currentTarget.value)}
        {...shared}
      />
      {pasted !== null && (
        <PastedValues
          values={pasted.values}
          onTake={() =>
            end(({ before, values, after }) => [...linesOf(before), ...values, ...linesOf(after)].join("\n"))
          }
          onKeep={() => end(({ before, raw, after }) => before + raw + after)}
          onDiscard={() => end()}
        />
      )}
    </div>
  );
}
