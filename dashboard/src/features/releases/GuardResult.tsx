/** The result of one metric: as a sentence, as evidence against its threshold, and as numbers. */

import { Badge, Group, Text, Title } from "@mantine/core";
import type { GuardOutlook } from "./outlooksCalls";
import type { MetricResult, Release, Results } from "./releasesCalls";
import { evidenceScale, warningLine } from "../../ui/charts/releaseCharts";
import { digits } from "../../ui/digits";
import { evidenceInWords, percent } from "./releases";
import { experiments } from "./experimentsTexts";
import { releases as texts } from "./releasesTexts";
import { When } from "../../ui/When";
import { LineChart } from "../../ui/charts/LineChart";
import { MetricTable } from "./MetricTable";
import classes from "./Releases.module.css";

interface Props {
  readonly release: Release;
  readonly counted: Results;
  readonly result: MetricResult;
  /** Undefined while it is not known, and of a release that has ended. */
  readonly outlook: GuardOutlook | undefined;
}

export function GuardResult({ release, counted, result, outlook }: Props) {
  const guard = release.guards.find(({ metric }) => metric === result.metric);
  return (
    <section className={classes.guard} aria-label={result.name}>
      <div>
        <Group gap="xs">
          <Title order={4} size="md" className="break">
            {result.name}
          </Title>
          <Verdict result={result} />
        </Group>
        <Text size="xs" c="dimmed">
          {texts.actions[result.action]}. {guard && guard.tolerates > 0 && texts.tolerates(percent(guard.tolerates))}
          {guard &&
            guard.tolerates_amount > 0 &&
            texts.toleratesAmount(`${digits(guard.tolerates_amount)}${result.unit === null ? "" : ` ${result.unit}`}`)}
        </Text>
      </div>
      <Text className="break">{result.words}</Text>
      {outlook && (
        <Text size="sm" c="dimmed" className="break">
          {experiments.outlook}: {outlook.steps[0]?.words ?? outlook.words}
        </Text>
      )}
      <div className={classes.charts}>
        <div>
          <MetricTable result={result} />
          <Verdicts result={result} outlook={outlook} />
        </div>
        <EvidenceChart release={release} counted={counted} result={result} />
      </div>
    </section>
  );
}

function Verdict({ result }: { result: MetricResult }) {
  if (result.acted_at !== null) {
    return (
      <Badge color="alarm.8">
        {result.action === "notify" ? texts.notified : texts.acted} <When at={result.acted_at} />
      </Badge>
    );
  }
  if (result.warning) return <Badge color="yellow.9">{texts.warning}</Badge>;
  return <Badge variant="default">{result.waits === null ? texts.fine : texts.unknown}</Badge>;
}

/** A sentence for each arm but the control, in their order. */
function Verdicts({ result, outlook }: Pick<Props, "result" | "outlook">) {
  const cannot = outlook?.steps[0]?.least === null && outlook.steps[0].finds.some(({ days }) => days !== null);
  return (
    <ul className={classes.lines} aria-label={texts.verdicts}>
      {result.verdicts.map(({ arm, standing, words }) => (
        <li key={arm} data-standing={standing} className="break">
          {words} {cannot && standing === "undecided" && texts.cannotBeDecided}
        </li>
      ))}
    </ul>
  );
}

function EvidenceChart({ release, counted, result }: Omit<Props, "outlook">) {
  const place = release.guards.findIndex(({ metric }) => metric === result.metric);
  const points = counted.chart.filter(({ evidence }) => evidence[place] !== undefined);
  if (points.length === 0) return null;
  const values = points.map(({ evidence }) => evidence[place] ?? 1);
  const warning = warningLine(result.threshold);
  const scale = evidenceScale(values, result.threshold);
  return (
    <div>
      <LineChart
        label={texts.evidence}
        times={points.map(({ at }) => Date.parse(at))}
        lines={[
          {
            name: texts.evidence,
            colour: "var(--mantine-color-text)",
            places: values.map(scale),
            words: values.map(evidenceInWords),
          },
        ]}
        marks={[
          { kind: "threshold", name: texts.thresholdName, place: scale(result.threshold) },
          { kind: "warning", name: texts.warningName, place: scale(warning) },
        ]}
      />
      <ul className={classes.lines}>
        <li data-kind="threshold">{texts.threshold(digits(result.threshold), texts.actsAt[result.action])}</li>
        <li data-kind="warning">{texts.warningLine(digits(warning))}</li>
      </ul>
    </div>
  );
}
