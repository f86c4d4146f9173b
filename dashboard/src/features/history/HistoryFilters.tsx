/** Filters of an evaluation history. The selection is in the URL. */

import { Autocomplete, Button, NativeSelect, TextInput } from "@mantine/core";
import type { EnvironmentPath, Flag } from "../../api/client";
import { type Span, spanOf } from "../../ui/charts/chartTimes";
import { useChartZone } from "../../ui/charts/chartZone";
import { PERIODS } from "../../ui/charts/periods";
import { ANSWERS, type HistorySearch } from "../../ui/search";
import { inFull } from "../../ui/time";
import { useTyped } from "../../ui/useTyped";
import { historyPage } from "./historyPageTexts";
import { charts } from "./chartsTexts";
import { markers as texts } from "../audit/markersTexts";
import { IconBroadcast } from "../../ui/icons";
import classes from "../../ui/Filters.module.css";
import { OutcomeFilters } from "./OutcomeFilters";

interface Props {
  readonly path: EnvironmentPath;
  readonly search: HistorySearch;
  readonly onChange: (search: HistorySearch) => void;
  readonly live: boolean;
  readonly onLive: (live: boolean) => void;
  /** Keys to propose, which contain what is typed; not set for the history of one flag. */
  readonly flagKeys?: readonly string[];
  /** The flag of the history, or the one that is filtered by. */
  readonly flag: Flag | undefined;
}

const TYPING_MILLISECONDS = 300;
const SPAN = "span";
const OF_A_FLAG = { answer: "any", variant: "", rule: "" };

export function HistoryFilters({ path, search, onChange, live, onLive, flagKeys, flag }: Props) {
  const choose = (part: Readonly<Partial<Record<keyof HistorySearch, string>>>) =>
    onChange({ ...search, ...part } as HistorySearch);
  const span = spanOf(search);
  const zone = useChartZone();
  const needsFlag = flagKeys !== undefined && !search.flag;
  return (
    <search className={classes.filters}>
      <TypedFilter label={historyPage.userId} value={search.user ?? ""} onChange={(user) => choose({ user })} />
      <TypedFilter label={historyPage.userEmail} value={search.email ?? ""} onChange={(email) => choose({ email })} />
      {flagKeys && (
        <Autocomplete
          label={historyPage.flag}
          placeholder={historyPage.flagAny}
          data={flagKeys}
          value={search.flag ?? ""}
          onChange={(key) => choose({ ...OF_A_FLAG, flag: key, ...(key && { answer: search.answer ?? "any" }) })}
        />
      )}
      <NativeSelect
        label={historyPage.answer}
        value={search.answer ?? "any"}
        disabled={needsFlag}
        title={needsFlag ? historyPage.answerNeedsFlag : undefined}
        onChange={(event) => choose({ answer: event.currentTarget.value })}
        data={ANSWERS.map((value) => ({ value, label: historyPage.answers[value] }))}
      />
      {flag && <OutcomeFilters path={path} flag={flag} search={search} onChoose={choose} />}
      <NativeSelect
        label={historyPage.period}
        value={span ? SPAN : (search.period ?? "day")}
        onChange={(event) => choose({ period: event.currentTarget.value, at: "", since: "", until: "" })}
        data={[
          ...(span ? [{ value: SPAN, label: spanInWords(span, search.at, zone) }] : []),
          ...PERIODS.map((value) => ({ value, label: historyPage.periods[value] })),
        ]}
      />
      <Button
        variant={live ? "light" : "default"}
        color="live"
        aria-pressed={live}
        leftSection={<IconBroadcast size={16} />}
        onClick={() => onLive(!live)}
      >
        {historyPage.live}
      </Button>
    </search>
  );
}

function spanInWords({ since, until }: Span, at: string | undefined, zone: string): string {
  return at ? texts.around(inFull(at, zone)) : charts.between(inFull(since, zone), inFull(until, zone));
}

interface TypedFilterProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function TypedFilter({ label, value, onChange }: TypedFilterProps) {
  const { typed, type } = useTyped(value, TYPING_MILLISECONDS, onChange);
  return (
    <TextInput
      label={label}
      value={typed}
      autoComplete="off"
      spellCheck={false}
      onChange={(event) => type(event.currentTarget.value)}
    />
  );
}
