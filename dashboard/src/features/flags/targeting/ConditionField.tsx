/** One condition: an attribute, how it is compared, and with which values. */

import { Checkbox, NativeSelect, Text, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import type { Operator } from "../../../api/client";
import { conditionParts, inWords, kindOf, OPERATORS_BY_KIND } from "../../../ui/conditions/conditions";
import { type ConditionDraft, conditionOf, withOperator } from "../../../ui/conditions/conditionDrafts";
import { conditionsTexts } from "../../../ui/conditions/conditionsTexts";
import classes from "./ConditionField.module.css";
import { RowCard } from "../../../ui/RowCard";
import type { RowPlace } from "../../../ui/RowFields";
import { ValuesField } from "./ValuesField";

interface Props extends RowPlace<ConditionDraft> {
  /** The id of the list of attributes to suggest. */
  readonly attributes: string;
  readonly errors: Readonly<Record<string, ReactNode>>;
}

const OPERATORS = OPERATORS_BY_KIND.map(({ kind, operators }) => ({
  group: conditionsTexts.kinds[kind],
  items: operators.map((value) => ({ value, label: conditionsTexts.operators[value] })),
}));

export function ConditionField({ row: draft, index, takesFocus, onChange, onRemove, attributes, errors }: Props) {
  const path = `conditions.${index}`;
  const kind = kindOf(draft.operator);
  return (
    <RowCard
      label={conditionsTexts.group(index + 1)}
      first={
        <TextInput
          label={conditionsTexts.attribute}
          placeholder={conditionsTexts.attributePlaceholder}
          list={attributes}
          maxLength={128}
          autoComplete="off"
          spellCheck={false}
          autoFocus={takesFocus}
          data-path={`${path}.attribute`}
          error={errors[`${path}.attribute`]}
          value={draft.attribute}
          onChange={(event) => onChange({ ...draft, attribute: event.currentTarget.value })}
        />
      }
      second={
        <NativeSelect
          label={conditionsTexts.operator}
          data={OPERATORS}
          data-path={`${path}.operator`}
          error={errors[`${path}.operator`]}
          value={draft.operator}
          onChange={(event) => onChange(withOperator(draft, event.currentTarget.value as Operator))}
        />
      }
      removeHint={conditionsTexts.remove}
      removeLabel={conditionsTexts.removeOf(index + 1)}
      onRemove={onRemove}
    >
      <ValuesField
        path={`${path}.values`}
        operator={draft.operator}
        text={draft.text}
        error={errors[`${path}.values`]}
        onChange={(text) => onChange({ ...draft, text })}
      />
      <div className={classes.options}>
        {kind === "text" && (
          <Checkbox
            size="xs"
            label={conditionsTexts.caseInsensitive}
            checked={draft.case_insensitive}
            onChange={(event) => onChange({ ...draft, case_insensitive: event.currentTarget.checked })}
          />
        )}
        <Checkbox
          size="xs"
          label={conditionsTexts.negate}
          checked={draft.negate}
          onChange={(event) => onChange({ ...draft, negate: event.currentTarget.checked })}
        />
      </div>
      <InWords draft={draft} />
    </RowCard>
  );
}

function InWords({ draft }: { draft: ConditionDraft }) {
  const meetsWithout = draft.operator === "not_in" && !draft.negate;
  const condition = conditionOf(draft);
  const isEmpty = !draft.attribute.trim() || condition.values.every((value) => value === "");
  return (
    <Text size="xs" c="dimmed" className="break">
      {!isEmpty && `${conditionsTexts.metIf} ${inWords(conditionParts(condition))}. `}
      {meetsWithout ? conditionsTexts.missingNotIn : conditionsTexts.missing}
    </Text>
  );
}
