/** One variant: its key, its value and its share of users. */

import { NativeSelect, NumberInput, Textarea, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { capitalised } from "../../../ui/capitalised";
import { faultOf, type ValueType, type VariantDraft } from "./variantDrafts";
import { variants as variantTexts } from "./variantsTexts";
import { RowCard } from "../../../ui/RowCard";
import type { RowPlace } from "../../../ui/RowFields";
import classes from "./VariantField.module.css";
import { Swatch } from "../../../ui/WeightBar";

interface Props extends RowPlace<VariantDraft> {
  readonly type: ValueType;
  /** In tenths of a percent. */
  readonly share: number;
  /** Left out if there is no other variant to give the users to. */
  readonly onShare: ((share: number) => void) | undefined;
  readonly errors: Readonly<Record<string, ReactNode>>;
}

export function VariantField({ row, index, takesFocus, onChange, onRemove, type, share, onShare, errors }: Props) {
  const path = `variants.${index}`;
  return (
    <RowCard
      label={variantTexts.group(index + 1)}
      first={
        <TextInput
          label={variantTexts.key}
          placeholder={variantTexts.keyPlaceholder}
          maxLength={128}
          autoComplete="off"
          spellCheck={false}
          autoFocus={takesFocus}
          data-autofocus={index === 0 || undefined}
          data-path={`${path}.key`}
          error={errors[`${path}.key`]}
          value={row.key}
          onChange={(event) => onChange({ ...row, key: event.currentTarget.value })}
        />
      }
      second={
        <NumberInput
          label={variantTexts.share}
          leftSection={<Swatch place={index} />}
          min={0}
          max={100}
          step={1}
          decimalScale={1}
          suffix="%"
          clampBehavior="strict"
          disabled={onShare === undefined}
          data-path={`${path}.weight`}
          error={errors[`${path}.weight`]}
          value={share / 10}
          onChange={(value) => onShare?.(Math.round(Number(value) * 10))}
        />
      }
      removeHint={variantTexts.remove}
      removeLabel={variantTexts.removeOf(index + 1)}
      onRemove={onRemove}
    >
      <ValueField
        type={type}
        text={row.text}
        path={`${path}.value`}
        error={errors[`${path}.value`]}
        onChange={(text) => onChange({ ...row, text })}
      />
    </RowCard>
  );
}

interface ValueProps {
  readonly type: ValueType;
  readonly text: string;
  readonly path: string;
  readonly error: ReactNode;
  readonly onChange: (text: string) => void;
}

/** The value, checked when the field is left, because half of a JSON object is never valid. */
function ValueField({ type, text, path, error, onChange }: ValueProps) {
  const [left, setLeft] = useState(false);
  const fault = left ? faultOf(type, text) : null;
  const shared = {
    label: variantTexts.valueLabel,
    value: text,
    error: error ?? (fault && capitalised(fault)),
    "data-path": path,
    onBlur: () => setLeft(true),
  };
  const change = (value: string) => {
    setLeft(false);
    onChange(value);
  };
  if (type === "boolean") {
    const choices = ["true", "false"];
    return (
      <NativeSelect
        data={choices.includes(text) ? choices : [{ value: text, label: "" }, ...choices]}
        onChange={(event) => change(event.currentTarget.value)}
        {...shared}
      />
    );
  }
  if (type === "number") {
    return (
      <TextInput
        inputMode="decimal"
        autoComplete="off"
        onChange={(event) => change(event.currentTarget.value)}
        {...shared}
      />
    );
  }
  return (
    <Textarea
      autosize
      minRows={type === "object" ? 3 : 1}
      maxRows={16}
      spellCheck={false}
      autoComplete="off"
      classNames={type === "object" ? { input: classes.json ?? "" } : {}}
      onChange={(event) => change(event.currentTarget.value)}
      {...shared}
    />
  );
}
