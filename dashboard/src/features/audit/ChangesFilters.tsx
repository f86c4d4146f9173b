/** Chooses which changes are shown: their time, and filters that unfold. What is chosen is in the URL. */

import { Button, Collapse, Group, NativeSelect, SegmentedControl } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useId } from "react";
import type { Environment } from "../../api/client";
import { type Period, PERIODS, periodOf } from "../../api/changePeriods";
import { type ChangesSearch, FILTERS } from "../../api/changesFilter";
import { localMinute } from "./markers";
import { changesPage as texts } from "./changesPageTexts";
import classes from "../../ui/Filters.module.css";
import { TypedInput } from "../../ui/TypedInput";
import { ACTIONS } from "./changeActions";

interface Props {
  /** The environments to choose from; none on the page of an environment. */
  readonly environments: readonly Environment[];
  readonly search: ChangesSearch;
  readonly onChange: (search: ChangesSearch) => void;
}

const TEXT = { autoComplete: "off", spellCheck: false } as const;
const TIME = { type: "datetime-local", miw: 0, className: classes.moment ?? "" } as const;
const HOUR = 3_600_000;

export function ChangesFilters({ environments, search, onChange }: Props) {
  const active = FILTERS.filter((name) => search[name] !== undefined).length;
  const [opened, { toggle }] = useDisclosure(active > 0);
  const filters = useId();
  const choose = (part: Readonly<Omit<ChangesSearch, "last">>) => onChange({ ...search, ...part });
  const choosePeriod = (period: Period) => {
    const { last: _, since: __, until: ___, ...others } = search;
    if (period === "all") onChange(others);
    else if (period === "between") onChange({ ...others, since: localMinute(Date.now() - HOUR) });
    else onChange({ ...others, last: period });
  };
  const period = periodOf(search);
  return (
    <search>
      <Group gap="sm" align="flex-end" mb="sm">
        <SegmentedControl
          aria-label={texts.period}
          size="xs"
          value={period}
          onChange={choosePeriod}
          data={PERIODS.map((value) => ({ value, label: texts.periods[value] }))}
        />
        {period === "between" && (
          <>
            <TypedInput
              {...TIME}
              size="xs"
              label={texts.since}
              value={search.since}
              onChange={(since) => choose({ since })}
            />
            <TypedInput
              {...TIME}
              size="xs"
              label={texts.until}
              value={search.until}
              onChange={(until) => choose({ until })}
            />
          </>
        )}
        <Button variant="default" size="xs" aria-expanded={opened} aria-controls={filters} onClick={toggle}>
          {texts.filters(active)}
        </Button>
      </Group>
      <Collapse expanded={opened} id={filters}>
        <div className={classes.filters}>
          <TypedInput {...TEXT} label={texts.actor} value={search.actor} onChange={(actor) => choose({ actor })} />
          <NativeSelect
            label={texts.action}
            value={search.action ?? ""}
            onChange={(event) => choose({ action: event.currentTarget.value })}
            data={[
              { value: "", label: texts.actionAny },
              ...ACTIONS.map((value) => ({ value, label: texts.actionName(value) })),
            ]}
          />
          <TypedInput {...TEXT} label={texts.flag} value={search.flag} onChange={(flag) => choose({ flag })} />
          {environments.length > 0 && (
            <NativeSelect
              label={texts.environment}
              value={search.environment ?? ""}
              onChange={(event) => choose({ environment: event.currentTarget.value })}
              data={[
                { value: "", label: texts.environmentAny },
                ...environments.map(({ key, name }) => ({ value: key, label: name })),
              ]}
            />
          )}
        </div>
      </Collapse>
    </search>
  );
}
