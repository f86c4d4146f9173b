/** The rates or means of a metric by step and arm. */

import type { ArmResult, MetricResult } from "./releasesCalls";
import { digits } from "../../ui/digits";
import { armInWords, percent } from "./releases";
import { releases as texts } from "./releasesTexts";
import { type Column, Sheet } from "../../ui/DataTable";
import classes from "./Releases.module.css";

interface Row {
  readonly name: string;
  readonly arms: readonly ArmResult[];
}

export function MetricTable({ result }: { result: MetricResult }) {
  const steps = result.steps.map(({ step, arms }) => ({ name: texts.step(step), arms }));
  const columns = result.arms.map(({ name }): Column<Row> => ({
    head: armInWords(name),
    cell: ({ arms }) => <Cell arm={arms.find((arm) => arm.name === name)} result={result} />,
    attributes: () => ({ className: "numbers" }),
  }));
  return (
    <Sheet
      label={texts.calculated(result.name)}
      columns={[{ head: texts.byStep, cell: ({ name }) => name }, ...columns]}
      rows={steps.length > 1 ? [...steps, { name: texts.allSteps, arms: result.arms }] : steps}
      keyOf={(_, place) => place}
    />
  );
}

function Cell({ arm, result: { kind, unit } }: { arm: ArmResult | undefined; result: MetricResult }) {
  if (!arm || (arm.rate === null && arm.mean === null)) return texts.none;
  // The mean of a value is that of the users who have one; of a count, the others are zeros.
  const behind = kind === "value" ? arm.users_with_events : arm.users;
  return (
    <>
      {arm.rate !== null && percent(arm.rate)}
      {arm.mean !== null && `${digits(arm.mean)}${unit === null ? "" : ` ${unit}`}`}
      <small className={classes.of}>
        {arm.rate === null ? texts.users(behind) : texts.ofUsers(arm.users_with_events, arm.users)}
      </small>
    </>
  );
}
