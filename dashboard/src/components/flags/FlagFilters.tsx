/** Search and filters of the flag list. The selection is in the URL. */

import { Button, NativeSelect, SegmentedControl, TextInput } from "@mantine/core";
import { IconSearch } from "../shared/icons";
import type { RefObject } from "react";
import { AUDIENCES } from "../../lib/audience";
import { choicesOf } from "../../lib/flagRows";
import { type FlagsSearch, SEENS, SORTS, STATES, toFlagsSearch } from "../../lib/search";
import { useTyped } from "../../lib/useTyped";
import { t } from "../../texts";
import { flagList as texts } from "../../texts/flagList";
import classes from "./FlagFilters.module.css";

interface Props {
  readonly search: FlagsSearch;
  readonly onChange: (search: FlagsSearch) => void;
  readonly onClear: () => void;
  /** All tags and owners of the flags, with repetitions. */
  readonly tags: readonly string[];
  readonly owners: readonly string[];
  readonly input: RefObject<HTMLInputElement | null>;
}

const ADDRESS_DELAY_MILLISECONDS = 120; // browsers limit how often the URL may change

export function FlagFilters({ search, onChange, onClear, input, tags, owners }: Props) {
  const { typed, type } = useTyped(search.q ?? "", ADDRESS_DELAY_MILLISECONDS, (q) => onChange({ ...search, q }));
  const choose = (part: { readonly [field in keyof FlagsSearch]?: string }) =>
    onChange({ ...search, ...part } as FlagsSearch);
  const choices = (
    [
      ["tag", tags, texts.tag, texts.anyTag],
      ["owner", owners, texts.owner, texts.anyOwner],
    ] as const
  ).filter(([field, all]) => all.length > 0 || search[field] !== undefined);
  const filtered = Object.keys(search).some((field) => field !== "sort");
  return (
    <search className={classes.filters}>
      <TextInput
        ref={input}
        type="search"
        className={classes.search}
        aria-label={t.flags.search}
        placeholder={t.flags.search}
        leftSection={<IconSearch size={16} />}
        rightSection={<kbd aria-hidden>/</kbd>}
        value={typed}
        onChange={(event) => type(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape" && typed === "") event.currentTarget.blur();
        }}
      />
      <SegmentedControl
        aria-label={t.flags.state}
        value={search.state ?? "all"}
        onChange={(state) => choose({ state })}
        data={STATES.map((value) => ({ value, label: { all: t.flags.all, on: t.on, off: t.off }[value] }))}
      />
      <NativeSelect
        aria-label={t.flags.target}
        value={search.audience ?? "any"}
        onChange={(event) => choose({ audience: event.currentTarget.value })}
        data={AUDIENCES.map((value) => ({ value, label: t.flags.targets[value] }))}
      />
      <NativeSelect
        aria-label={t.flags.seen}
        value={search.seen ?? "any"}
        onChange={(event) => choose({ seen: event.currentTarget.value })}
        data={SEENS.map((value) => ({ value, label: t.flags.seens[value] }))}
      />
      {choices.map(([field, all, label, any]) => (
        <NativeSelect
          key={field}
          aria-label={label}
          value={search[field] ?? ""}
          onChange={(event) => choose({ [field]: event.currentTarget.value })}
          data={[{ value: "", label: any }, ...choicesOf(all, search[field])]}
        />
      ))}
      <Button
        variant={search.favourites ? "light" : "default"}
        aria-pressed={search.favourites === true}
        onClick={() => onChange(toFlagsSearch({ ...search, favourites: !search.favourites }))}
      >
        {texts.favourites}
      </Button>
      <NativeSelect
        aria-label={t.flags.sort}
        value={search.sort ?? "newest"}
        onChange={(event) => choose({ sort: event.currentTarget.value })}
        data={SORTS.map((value) => ({ value, label: t.flags.sorts[value] }))}
      />
      {filtered && (
        <Button variant="subtle" color="gray" onClick={onClear}>
          {t.clearFilters}
        </Button>
      )}
    </search>
  );
}
