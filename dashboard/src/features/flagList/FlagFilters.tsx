/** Search, views and filters of the flag list, in one row. The selection is in the URL. */

import { Button, Popover, Skeleton, TextInput, VisuallyHidden } from "@mantine/core";
import { lazy, type RefObject, Suspense, useState } from "react";
import { IconSearch } from "../../ui/icons";
import type { FlagsSearch } from "../../ui/search";
import { useSingleKeys } from "../../ui/singleKeys";
import { useTyped } from "../../ui/useTyped";
import { flagsTexts } from "../flags/flagsTexts";
import { flagList as texts } from "../views/flagListTexts";
import classes from "./FlagFilters.module.css";
import { ViewsMenu } from "./ViewsMenu";

const MoreFilters = lazy(() => import("./MoreFilters"));

interface Props {
  readonly projectId: string;
  readonly search: FlagsSearch;
  readonly onChange: (search: FlagsSearch) => void;
  readonly onClear: () => void;
  /** All tags and owners of the flags, with repetitions. */
  readonly tags: readonly string[];
  readonly owners: readonly string[];
  readonly input: RefObject<HTMLInputElement | null>;
}

const ADDRESS_DELAY_MILLISECONDS = 120; // browsers limit how often the URL may change

export function FlagFilters({ projectId, search, onChange, onClear, input, tags, owners }: Props) {
  const { typed, type } = useTyped(search.q ?? "", ADDRESS_DELAY_MILLISECONDS, (q) => onChange({ ...search, q }));
  const hasKeys = useSingleKeys();
  const [opened, setOpened] = useState(false);
  const active = Object.keys(search).filter((field) => field !== "q" && field !== "sort").length;
  const clear = () => {
    setOpened(false);
    onClear();
  };
  return (
    <search className={classes.filters}>
      <TextInput
        ref={input}
        type="search"
        className={classes.search}
        aria-label={flagsTexts.search}
        placeholder={flagsTexts.search}
        leftSection={<IconSearch size={16} />}
        rightSection={hasKeys && <kbd aria-hidden>/</kbd>}
        value={typed}
        onChange={(event) => type(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape" && typed === "") event.currentTarget.blur();
        }}
      />
      <ViewsMenu projectId={projectId} search={search} onChange={onChange} />
      <Popover
        position="bottom-end"
        width={300}
        shadow="md"
        withinPortal={false}
        trapFocus
        returnFocus
        opened={opened}
        onChange={setOpened}
      >
        <Popover.Target>
          <Button
            variant={active > 0 ? "light" : "default"}
            className={classes.more}
            onClick={() => setOpened(!opened)}
          >
            {texts.filters}
            {active > 0 && (
              <span className={classes.count}>
                {" "}
                {active} <VisuallyHidden component="span">{texts.filtersActive}</VisuallyHidden>
              </span>
            )}
          </Button>
        </Popover.Target>
        <Popover.Dropdown aria-label={texts.filters} className={classes.dropdown}>
          <Suspense fallback={<Skeleton h={380} />}>
            <MoreFilters
              search={search}
              tags={tags}
              owners={owners}
              onChange={onChange}
              onClear={active > 0 ? clear : null}
            />
          </Suspense>
        </Popover.Dropdown>
      </Popover>
    </search>
  );
}
