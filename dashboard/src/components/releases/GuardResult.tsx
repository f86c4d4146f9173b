/** The result of one metric: as a sentence, as evidence against its threshold, and as numbers. */

import { Badge, Group, Text, Title } from "@mantine/core";
import type { ArmResult, MetricResult, Release, Results } from "../../api/releases";
import { evidenceScale, warningLine } from "./releaseCharts";
import { armInWords, digits, evidenceInWords, percent, signed } from "../../lib/releases";
import { releases as texts } from "../../texts/releases";
import { When } from "../shared/When";
import { LineChart } from "./LineChart";
import { MetricTable } from "./MetricTable";
import classes from "./Releases.module.css";

interface Props {
  readonly release: Release;
  readonly counted: Results;
  readonly result: MetricResult;
}

export function GuardResult({ release, counted, result }: Props) {
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
        </Text>
      </div>
      <Text className="break">{result.words}</Text>
      <div className={classes.charts}>
        <div>
          <MetricTable result={result} />
          <Comparison release={release} result={result} />
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
        {texts.acted} <When at={result.acted_at} />
      </Badge>
    );
  }
  return result.warning ? (
    <Badge color="yellow.9">{texts.warning}</Badge>
  ) : (
    <Badge variant="default">{texts.fine}</Badge>
  );
}

function Comparison({ release, result }: Pick<Props, "release" | "result">) {
  const [control, ...others] = result.arms;
  if (!control) return null;
  return (
    <>
      {others.map((arm) => (
        <Text key={arm.name} size="sm" mt="xs" className="break">
          {texts.compared(armInWords(arm.name), armInWords(control.name))}: {comparedInWords(arm, result.unit)}
        </Text>
      ))}
      {others.some(({ ratio, difference }) => ratio ?? difference) && (
        <Text size="xs" c="dimmed">
          {texts.intervalNote(percent(1 - release.false_alarm_rate / release.guards.length))}
        </Text>
      )}
    </>
  );
}

function comparedInWords({ ratio, difference }: ArmResult, unit: string | null): string {
  if (ratio) return texts.ratio(digits(ratio.estimate), digits(ratio.low), digits(ratio.high));
  if (!difference) return texts.notKnown;
  const of = (value: number) => `${signed(value)}${unit === null ? "" : ` ${unit}`}`;
  return texts.difference(of(difference.estimate), of(difference.low), of(difference.high));
}

function EvidenceChart({ release, counted, result }: Props) {
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
        <li>{texts.evidenceNote(digits(release.false_alarm_rate * 100))}</li>
        {result.kind !== "binary" && <li>{texts.meanNote}</li>}
      </ul>
    </div>
  );
}
