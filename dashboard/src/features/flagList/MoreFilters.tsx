/** The filters of the flag list besides its search, and its order. */

import { Button, NativeSelect, SegmentedControl, Stack } from "@mantine/core";
import { AUDIENCES } from "../../ui/conditions/audience";
import { choicesOf } from "./flagRows";
import { type FlagsSearch, SEENS, SORTS, STATES, toFlagsSearch } from "../../ui/search";
import { common } from "../../ui/commonTexts";
import { flagFilters as texts } from "./flagFiltersTexts";
import { flagList } from "../views/flagListTexts";

interface Props {
  readonly search: FlagsSearch;
  readonly onChange: (search: FlagsSearch) => void;
  /** Null if there is nothing to clear. */
  readonly onClear: (() => void) | null;
  readonly tags: readonly string[];
  readonly owners: readonly string[];
}

export default function MoreFilters({ search, onChange, onClear, tags, owners }: Props) {
  const choose = (part: { readonly [field in keyof FlagsSearch]?: string }) =>
    onChange({ ...search, ...part } as FlagsSearch);
  const choices = (
    [
      ["tag", tags, texts.tag, texts.anyTag],
      ["owner", owners, texts.owner, texts.anyOwner],
    ] as const
  ).filter(([field, all]) => all.length > 0 || search[field] !== undefined);
  return (
    <Stack gap="sm">
      <SegmentedControl
        fullWidth
        aria-label={texts.state}
        value={search.state ?? "all"}
        onChange={(state) => choose({ state })}
        data={STATES.map((value) => ({ value, label: { all: texts.all, on: common.on, off: common.off }[value] }))}
      />
      <NativeSelect
        label={texts.target}
        value={search.audience ?? "any"}
        onChange={(event) => choose({ audience: event.currentTarget.value })}
        data={AUDIENCES.map((value) => ({ value, label: texts.targets[value] }))}
      />
      <NativeSelect
        label={texts.seen}
        value={search.seen ?? "any"}
        onChange={(event) => choose({ seen: event.currentTarget.value })}
        data={SEENS.map((value) => ({ value, label: texts.seens[value] }))}
      />
      {choices.map(([field, all, label, any]) => (
        <NativeSelect
          key={field}
          label={label}
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
        {flagList.favourites}
      </Button>
      <NativeSelect
        label={texts.sort}
        value={search.sort ?? "newest"}
        onChange={(event) => choose({ sort: event.currentTarget.value })}
        data={SORTS.map((value) => ({ value, label: texts.sorts[value] }))}
      />
      {onClear && (
        <Button variant="subtle" color="gray" onClick={onClear}>
          {common.clearFilters}
        </Button>
      )}
    </Stack>
  );
}
