/** One prerequisite: another flag, and what it must be. */

import { Checkbox, NativeSelect, Select, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { Flag } from "../../../api/client";
import { NEEDED_STATES, type NeededState, type PrerequisiteDraft } from "./prerequisiteDrafts";
import { prerequisitesTexts } from "./prerequisitesTexts";
import classes from "./PrerequisiteField.module.css";
import { RowCard } from "../../../ui/RowCard";
import type { RowPlace } from "../../../ui/RowFields";

interface Props extends RowPlace<PrerequisiteDraft> {
  readonly flags: readonly Flag[];
  readonly errors: Readonly<Record<string, ReactNode>>;
}

const PROPOSED_FLAGS = 50;

export function PrerequisiteField({ row, index, takesFocus, onChange, onRemove, flags, errors }: Props) {
  const path = `prerequisites.${index}`;
  const chosen = flags.find((each) => each.key === row.flag_key);
  return (
    <RowCard
      label={prerequisitesTexts.group(index + 1)}
      first={
        <Select
          label={prerequisitesTexts.flag}
          placeholder={prerequisitesTexts.flagPlaceholder}
          nothingFoundMessage={prerequisitesTexts.flagNone}
          data={flags.map(({ name, key }) => ({ value: key, label: prerequisitesTexts.named(name, key) }))}
          searchable
          selectFirstOptionOnChange
          openOnFocus={false}
          comboboxProps={{ withinPortal: false }} // all content of a page must be in landmarks
          limit={PROPOSED_FLAGS}
          autoFocus={takesFocus}
          data-autofocus={index === 0 || undefined}
          data-path={`${path}.flag_key`}
          error={errors[`${path}.flag_key`]}
          value={row.flag_key || null}
          onChange={(key) => onChange({ ...row, flag_key: key ?? "", variants: [] })}
        />
      }
      second={
        <NativeSelect
          label={prerequisitesTexts.state}
          data={NEEDED_STATES.map((value) => ({ value, label: prerequisitesTexts.states[value] }))}
          value={row.state}
          onChange={(event) => onChange({ ...row, state: event.currentTarget.value as NeededState })}
        />
      }
      removeHint={prerequisitesTexts.remove}
      removeLabel={prerequisitesTexts.removeOf(index + 1)}
      onRemove={onRemove}
    >
      {row.state === "variants" && chosen?.variants.length === 0 && (
        <Text size="sm" c="dimmed">
          {prerequisitesTexts.noVariants}
        </Text>
      )}
      {row.state === "variants" && (
        <Checkbox.Group
          label={prerequisitesTexts.variants}
          error={errors[`${path}.variants`]}
          value={[...row.variants]}
          onChange={(variants) => onChange({ ...row, variants })}
        >
          <div className={classes.variants}>
            {offered(chosen, row.variants).map((key) => (
              <Checkbox key={key} size="xs" value={key} label={key} />
            ))}
          </div>
        </Checkbox.Group>
      )}
    </RowCard>
  );
}

/** The flag's variants, and those that are chosen although the flag no longer has them. */
function offered(flag: Flag | undefined, chosen: readonly string[]): string[] {
  return [...new Set([...(flag?.variants.map((each) => each.key) ?? []), ...chosen])];
}
