/** Custom attributes, as pairs of a name and a value. */

import { Button, Text, TextInput } from "@mantine/core";
import { useId, useRef } from "react";
import type { Attribute } from "../api/evaluate";
import { t } from "../texts";
import classes from "./AttributeFields.module.css";
import { IconButton } from "./IconButton";
import { IconPlus, IconTrash } from "./icons";

interface Props {
  readonly attributes: readonly Attribute[];
  /** Names to suggest. */
  readonly known: readonly string[];
  readonly onChange: (attributes: Attribute[]) => void;
}

export function AttributeFields({ attributes, known, onChange }: Props) {
  const names = useId();
  const addition = useRef<HTMLButtonElement>(null);
  const change = (index: number, part: Partial<Attribute>) =>
    onChange(attributes.map((each, place) => (place === index ? { ...each, ...part } : each)));
  const add = () => {
    const unused = known.find((name) => !attributes.some((each) => each.name === name));
    onChange([...attributes, { name: unused ?? "", value: "" }]);
  };
  const remove = (index: number) => {
    onChange(attributes.filter((_, place) => place !== index));
    addition.current?.focus(); // the pressed button is about to disappear
  };
  return (
    <fieldset className={classes.fieldset}>
      <legend className={classes.legend}>{t.simulator.attributes}</legend>
      <datalist id={names}>
        {known.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {attributes.map((each, index) => (
        <div key={index} className={classes.pair}>
          <TextInput
            aria-label={t.simulator.attributeName(index + 1)}
            placeholder={t.simulator.namePlaceholder}
            list={names}
            maxLength={128}
            autoComplete="off"
            spellCheck={false}
            autoFocus
            value={each.name}
            onChange={(event) => change(index, { name: event.currentTarget.value })}
          />
          <TextInput
            aria-label={t.simulator.attributeValue(index + 1)}
            placeholder={t.simulator.valuePlaceholder}
            maxLength={1024}
            autoComplete="off"
            spellCheck={false}
            value={each.value}
            onChange={(event) => change(index, { value: event.currentTarget.value })}
          />
          <IconButton
            hint={t.simulator.removeAttribute}
            label={t.simulator.removeAttributeOf(index + 1)}
            onClick={() => remove(index)}
          >
            <IconTrash size={16} />
          </IconButton>
        </div>
      ))}
      {attributes.length > 0 && (
        <Text size="xs" c="dimmed">
          {t.simulator.attributesNote}
        </Text>
      )}
      <Button
        ref={addition}
        variant="subtle"
        size="compact-sm"
        leftSection={<IconPlus size={14} />}
        onClick={add}
        className={classes.add}
      >
        {t.simulator.addAttribute}
      </Button>
    </fieldset>
  );
}
