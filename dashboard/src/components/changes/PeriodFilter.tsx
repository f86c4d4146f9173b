/** Chooses the time of which changes are shown. */

import { Group, SegmentedControl } from "@mantine/core";
import { type Period, PERIODS } from "../../lib/changePeriods";
import type { ChangesSearch } from "../../lib/changesSearch";
import { localMinute } from "../../lib/markers";
import { changes as texts } from "../../texts/changes";
import { TypedInput } from "../shared/TypedInput";

interface Props {
  readonly search: ChangesSearch;
  readonly onChange: (search: ChangesSearch) => void;
}

export function PeriodFilter({ search, onChange }: Props) {
  const choose = (period: Period) => {
    if (period === "all") onChange({});
    else if (period === "since") onChange({ since: localMinute(Date.now() - 3_600_000) });
    else onChange({ last: period });
  };
  return (
    <Group gap="sm" align="flex-end" mb="md">
      <SegmentedControl
        aria-label={texts.period}
        size="xs"
        value={search.last ?? (search.since === undefined ? "all" : "since")}
        onChange={choose}
        data={PERIODS.map((value) => ({ value, label: texts.periods[value] }))}
      />
      {search.since !== undefined && (
        <TypedInput
          type="datetime-local"
          label={texts.since}
          size="xs"
          value={search.since}
          onChange={(since) => onChange({ since })}
        />
      )}
    </Group>
  );
}
