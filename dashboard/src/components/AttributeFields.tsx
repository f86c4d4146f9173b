/** Custom attributes, as pairs of a name and a value. */

import { Text, TextInput } from "@mantine/core";
import { useId } from "react";
import type { Attribute } from "../api/evaluate";
import { t } from "../texts";
import classes from "./AttributeFields.module.css";
import { IconButton } from "./IconButton";
import { IconTrash } from "./icons";
import { RowFields, type RowPlace } from "./RowFields";
import { Suggestions } from "./Suggestions";

interface Props {
  readonly attributes: readonly Attribute[];
  /** Names to suggest. */
  readonly known: readonly string[];
  readonly onChange: (attributes: Attribute[]) => void;
}

export function AttributeFields({ attributes, known, onChange }: Props) {
  const names = useId();
  const added = (all: readonly Attribute[]) => {
    const unused = known.find((name) => !all.some((each) => each.name === name));
    return [...all, { name: unused ?? "", value: "" }];
  };
  return (
    <>
      <Suggestions id={names} texts={known} />
      <RowFields
        legend={t.simulator.attributes}
        rows={attributes}
        addText={t.simulator.addAttribute}
        onChange={onChange}
        added={added}
        render={(place) => <AttributeField {...place} names={names} />}
      >
        {attributes.length > 0 && (
          <Text size="xs" c="dimmed">
            {t.simulator.attributesNote}
          </Text>
        )}
      </RowFields>
    </>
  );
}

function AttributeField({
  row,
  index,
  takesFocus,
  onChange,
  onRemove,
  names,
}: RowPlace<Attribute> & { names: string }) {
  return (
    <div className={classes.pair}>
      <TextInput
        aria-label={t.simulator.attributeName(index + 1)}
        placeholder={t.simulator.namePlaceholder}
        list={names}
        maxLength={128}
        autoComplete="off"
        spellCheck={false}
        autoFocus={takesFocus}
        value={row.name}
        onChange={(event) => onChange({ ...row, name: event.currentTarget.value })}
      />
      <TextInput
        aria-label={t.simulator.attributeValue(index + 1)}
        placeholder={t.simulator.valuePlaceholder}
        maxLength={1024}
        autoComplete="off"
        spellCheck={false}
        value={row.value}
        onChange={(event) => onChange({ ...row, value: event.currentTarget.value })}
      />
      <IconButton
        hint={t.simulator.removeAttribute}
        label={t.simulator.removeAttributeOf(index + 1)}
        onClick={onRemove}
      >
        <IconTrash size={16} />
      </IconButton>
    </div>
  );
}
