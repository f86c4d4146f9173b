/** The conditions of a rule or a segment, all of which must be met. */

import { Button, Input, Text } from "@mantine/core";
import { type ReactNode, useId, useRef, useState } from "react";
import { BUILT_IN } from "../lib/conditions";
import { type ConditionDraft, NEW_CONDITION } from "../lib/conditionDrafts";
import { t } from "../texts";
import { ConditionField } from "./ConditionField";
import classes from "./ConditionFields.module.css";
import { IconPlus } from "./icons";

interface Props {
  readonly conditions: readonly ConditionDraft[];
  /** Errors by path, such as `conditions.1.values`. */
  readonly errors: Readonly<Record<string, ReactNode>>;
  readonly onChange: (conditions: ConditionDraft[]) => void;
}

export function ConditionFields({ conditions, errors, onChange }: Props) {
  const attributes = useId();
  const addition = useRef<HTMLButtonElement>(null);
  const [added, setAdded] = useState<number | null>(null);
  const add = () => {
    setAdded(conditions.length);
    onChange([...conditions, NEW_CONDITION]);
  };
  const remove = (index: number) => {
    onChange(conditions.filter((_, place) => place !== index));
    addition.current?.focus(); // the pressed button is about to disappear
  };
  return (
    <fieldset className={classes.fieldset}>
      <legend className={classes.legend}>{t.conditions.heading}</legend>
      <Text size="xs" c="dimmed">
        {conditions.length > 1 ? t.conditions.intro : t.conditions.introOne}
      </Text>
      <datalist id={attributes}>
        {BUILT_IN.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {conditions.map((each, index) => (
        <ConditionField
          key={index}
          index={index}
          draft={each}
          attributes={attributes}
          errors={errors}
          takesFocus={index === added}
          onChange={(draft) => onChange(conditions.with(index, draft))}
          onRemove={() => remove(index)}
        />
      ))}
      {errors.conditions && <Input.Error>{errors.conditions}</Input.Error>}
      <Button
        ref={addition}
        variant="subtle"
        size="compact-sm"
        leftSection={<IconPlus size={14} />}
        onClick={add}
        className={classes.add}
      >
        {t.conditions.add}
      </Button>
    </fieldset>
  );
}
