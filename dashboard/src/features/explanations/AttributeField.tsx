/** One custom attribute: its name, its type and its value. */

import { NativeSelect, Textarea, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { type Attribute, ATTRIBUTE_TYPES, type AttributeType, withAttributeType } from "./simulatedUser";
import { simulatorTexts } from "./simulatorTexts";
import { IconButton } from "../../ui/IconButton";
import { IconTrash } from "../../ui/icons";
import type { RowPlace } from "../../ui/RowFields";
import classes from "./AttributeFields.module.css";

interface Props extends RowPlace<Attribute> {
  readonly names: string;
  readonly error: ReactNode;
}

export default function AttributeField({ row, index, takesFocus, onChange, onRemove, names, error }: Props) {
  return (
    <div className={classes.attribute}>
      <TextInput
        aria-label={simulatorTexts.attributeName(index + 1)}
        placeholder={simulatorTexts.namePlaceholder}
        list={names}
        maxLength={128}
        autoComplete="off"
        spellCheck={false}
        autoFocus={takesFocus}
        value={row.name}
        onChange={(event) => onChange({ ...row, name: event.currentTarget.value })}
      />
      <NativeSelect
        aria-label={simulatorTexts.attributeType(index + 1)}
        data={ATTRIBUTE_TYPES.map((value) => ({ value, label: simulatorTexts.types[value] }))}
        value={row.type}
        onChange={(event) => onChange(withAttributeType(row, event.currentTarget.value as AttributeType))}
      />
      <IconButton
        hint={simulatorTexts.removeAttribute}
        label={simulatorTexts.removeAttributeOf(index + 1)}
        onClick={onRemove}
      >
        <IconTrash size={16} />
      </IconButton>
      <div className={classes.value}>
        <ValueField row={row} index={index} error={error} onChange={onChange} />
      </div>
    </div>
  );
}

function ValueField({ row, index, error, onChange }: Pick<Props, "row" | "index" | "error" | "onChange">) {
  const shared = {
    "aria-label": simulatorTexts.attributeValue(index + 1),
    "data-path": `attributes.${index}.text`,
    error,
    value: row.text,
  };
  const change = (text: string) => onChange({ ...row, text });
  if (row.type === "boolean") {
    return (
      <NativeSelect data={["true", "false"]} onChange={(event) => change(event.currentTarget.value)} {...shared} />
    );
  }
  const typed = {
    placeholder: simulatorTexts.valuePlaceholders[row.type],
    autoComplete: "off",
    spellCheck: false,
    ...shared,
  };
  if (row.type === "list") {
    return <Textarea rows={2} onChange={(event) => change(event.currentTarget.value)} {...typed} />;
  }
  return (
    <TextInput
      maxLength={1024}
      inputMode={row.type === "number" ? "decimal" : "text"}
      onChange={(event) => change(event.currentTarget.value)}
      {...typed}
    />
  );
}
