/** One pinned chart: its name, which leads to its full view, what it shows, its bars, and what can be done with it. */

import { Skeleton, Text } from "@mantine/core";
import type { Environment } from "../../api/client";
import type { PinnedChart } from "../views/pinnedChartsCalls";
import { useChartZone } from "../../ui/charts/chartZone";
import { isEmpty } from "./chartBars";
import { type ChartView, chartViewOf, searchOfPinned } from "./chartView";
import { useDialog } from "../../ui/useDialog";
import { useEnvironments } from "../../ui/useHere";
import { useHistoryChart } from "./useHistoryChart";
import { historyPage } from "./historyPageTexts";
import { charts, pins as texts } from "./chartsTexts";
import { EditMenu } from "../../ui/EditMenu";
import { Given } from "../../ui/Given";
import { lateDialog } from "../../ui/lateDialog";
import { AnchorLink } from "../../ui/links";
import { LoadFailed } from "../../ui/ProblemPage";
import { Bars } from "./Bars";
import classes from "./PinnedCharts.module.css";

const RenameDialog = lateDialog(() => import("./PinDialogs").then((module) => module.RenamePinnedDialog));
const RemoveDialog = lateDialog(() => import("./PinDialogs").then((module) => module.RemovePinnedDialog));

const HEIGHT = 72;

interface Props {
  readonly chart: PinnedChart;
  readonly environment: Environment;
}

export function PinnedChartCard({ chart: pinned, environment }: Props) {
  const environments = useEnvironments();
  const zone = useChartZone();
  const path = { project_id: pinned.project_id, env_id: environment.id };
  const flagKey = pinned.flag_key ?? "";
  const search = searchOfPinned(pinned, environments);
  const view = chartViewOf(search, { here: environment.id, environments, flagKey, zone });
  const { chart, error, retry } = useHistoryChart(path, environment, { flagKey }, view);
  const [renaming, removal] = [useDialog(), useDialog()];
  const place = { projectId: pinned.project_id, environmentId: environment.id };
  return (
    <li className={classes.card}>
      <div className={classes.head}>
        <div className={classes.names}>
          {pinned.flag_id === null ? (
            <AnchorLink
              fw={560}
              className="break"
              to="/projects/$projectId/environments/$environmentId/history"
              params={place}
              search={search}
            >
              <Given text={pinned.name} />
            </AnchorLink>
          ) : (
            <AnchorLink
              fw={560}
              className="break"
              to="/projects/$projectId/environments/$environmentId/flags/$flagId"
              params={{ ...place, flagId: pinned.flag_id }}
              search={{ ...search, tab: "history" }}
            >
              <Given text={pinned.name} />
            </AnchorLink>
          )}
          <Text size="xs" c="dimmed" className="break">
            {inWords(pinned, environment, view)}
          </Text>
        </div>
        <EditMenu
          label={texts.menu(pinned.name)}
          editText={texts.rename}
          deleteText={texts.remove}
          needs="flags:write"
          within={environment}
          onEdit={renaming.open}
          onDelete={removal.open}
        />
      </div>
      {!chart && (error ? <LoadFailed error={error} onRetry={retry} /> : <Skeleton h={HEIGHT + 40} />)}
      {chart &&
        (isEmpty(chart) ? (
          <Text size="sm" c="dimmed">
            {charts.none}
          </Text>
        ) : (
          <Bars chart={chart} scale={view.scale} height={HEIGHT} />
        ))}
      <RenameDialog chart={pinned} {...renaming.props} />
      <RemoveDialog chart={pinned} {...removal.props} />
    </li>
  );
}

/** "new-checkout in Production, last 24 hours, by variant, compared with Staging". */
function inWords({ flag_key: key }: PinnedChart, { name }: Environment, { period, split, before, other }: ChartView) {
  return [
    texts.proposed(key ?? texts.all, name),
    historyPage.periods[period].toLowerCase(),
    texts.bySplit[split],
    before ? texts.comparedBefore : "",
    other ? texts.comparedWith(other.name) : "",
  ]
    .filter((each) => each !== "")
    .join(", ");
}
