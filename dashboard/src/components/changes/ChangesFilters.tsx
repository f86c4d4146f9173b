/** Chooses which changes are shown: their time, and filters that unfold. What is chosen is in the URL. */

import { Button, Collapse, Group, NativeSelect, SegmentedControl } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useId } from "react";
import type { Environment } from "../../api/client";
import { type Period, PERIODS, periodOf } from "../../lib/changePeriods";
import { type Action, type ChangesSearch, FILTERS } from "../../lib/changesFilter";
import { localMinute } from "../../lib/markers";
import { changesPage as texts } from "../../texts/changesPage";
import classes from "../history/History.module.css";
import { TypedInput } from "../shared/TypedInput";

interface Props {
  /** Those of which one can be chosen; none on the page of one of them. */
  readonly environments: readonly Environment[];
  readonly search: ChangesSearch;
  readonly onChange: (search: ChangesSearch) => void;
}

/** All of the API's, which the compiler checks. */
const ACTIONS = Object.keys({
  "flag.created": true,
  "flag.updated": true,
  "flag.toggled": true,
  "flag.archived": true,
  "flag.unarchived": true,
  "flag.deleted": true,
  "rule.created": true,
  "rule.updated": true,
  "rule.deleted": true,
  "segment.created": true,
  "segment.updated": true,
  "segment.deleted": true,
  "metric.created": true,
  "metric.updated": true,
  "metric.deleted": true,
  "release.created": true,
  "release.step_applied": true,
  "release.step_skipped": true,
  "release.paused": true,
  "release.resumed": true,
  "release.cancelled": true,
  "release.warned": true,
  "release.stopped": true,
  "release.failed": true,
  "release.done": true,
  "comment.deleted": true,
  "view.created": true,
  "view.updated": true,
  "view.deleted": true,
  "pinned_chart.created": true,
  "pinned_chart.updated": true,
  "pinned_chart.deleted": true,
  "project.created": true,
  "project.updated": true,
  "project.key_regenerated": true,
  "environment.created": true,
  "environment.updated": true,
  "environment.reordered": true,
  "environment.deleted": true,
  "sdk_key.created": true,
  "sdk_key.revoked": true,
  "webhook.created": true,
  "webhook.updated": true,
  "webhook.secret_rotated": true,
  "webhook.disabled": true,
  "webhook.deleted": true,
  "member.added": true,
  "member.updated": true,
  "member.removed": true,
  "member.joined": true,
  "invitation.created": true,
  "invitation.sent": true,
  "invitation.accepted": true,
  "invitation.deleted": true,
  "token.created": true,
  "token.deleted": true,
} satisfies Record<Action, true>);
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
