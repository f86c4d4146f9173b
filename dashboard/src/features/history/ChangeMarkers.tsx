/** Marks on a chart where the flag, its rules or its segments were changed. Each is a link to the change in the audit. */

import { VisuallyHidden } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { changeSummaryQuery } from "../../api/changes";
import type { EnvironmentPath } from "../../api/client";
import type { ChangesSearch } from "../../api/changesFilter";
import type { Chart } from "./chartBars";
import type { Span } from "../../ui/charts/chartTimes";
import { localMinute, type Marker, markersOf } from "../audit/markers";
import { inFull } from "../../ui/time";
import { changeSentences as sentences } from "../audit/changeSentencesTexts";
import { markers as texts } from "../audit/markersTexts";
import classes from "./Bars.module.css";

interface Props {
  readonly path: EnvironmentPath;
  /** The time of the chart. */
  readonly shown: Span;
  readonly chart: Chart;
  readonly flagKey: string;
}

const WIDTH = 26; // a marker can be touched without touching the next one

export function ChangeMarkers({ path, shown, chart, flagKey }: Props) {
  const { ref, width } = useElementSize();
  const [since, until] = [shown.since, shown.until].map((each) => new Date(each).toISOString());
  const times = { since: since ?? "", until: until ?? "", interval: chart.interval, tz: chart.zone };
  const { data } = useQuery(changeSummaryQuery(path, times, flagKey));
  const bars = chart.series[0]?.bars ?? [];
  const found = data ? markersOf(bars, data.intervals, Math.floor(width / WIDTH)) : [];
  return (
    <div ref={ref} className={classes.markers}>
      {width > 0 && found.length > 0 && (
        <ol aria-label={texts.heading}>
          {found.map((marker) => (
            <li key={marker.start} style={{ left: `${marker.middle * 100}%` }}>
              <Link
                to="/projects/$projectId/environments/$environmentId/changes"
                params={{ projectId: path.project_id, environmentId: path.env_id }}
                search={searchOf(marker, flagKey)}
                title={inWords(marker, chart.zone)}
              >
                <VisuallyHidden>{inWords(marker, chart.zone)}</VisuallyHidden>
              </Link>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}

function inWords({ changes, newest, start, end }: Marker, zone: string): string {
  return changes === 1
    ? texts.one(
        newest.actor_email ?? sentences.commandLine,
        sentences.verbs[newest.action] ?? newest.action,
        newest.flag_key,
        inFull(newest.at, zone),
      )
    : texts.many(changes, inFull(start, zone), inFull(end, zone));
}

/** The changes in the audit. Those of segments are in no environment, so a filter by one would leave them out. */
function searchOf({ changes, segmentChanges, newest, start, end }: Marker, flag: string): ChangesSearch {
  const at = Date.parse(newest.at);
  const time =
    changes === 1
      ? { since: localMinute(at), until: localMinute(at, { up: true }) }
      : { since: localMinute(start), until: localMinute(end) };
  if (changes === 1 && segmentChanges === 1) return { ...time, action: newest.action };
  return segmentChanges === 0 && flag ? { ...time, flag } : time; // the filter leaves segments out
}
