/** The rates or means of a metric by step and arm. */

import type { ArmResult, MetricResult } from "../../api/releases";
import { armInWords, digits, percent } from "../../lib/releases";
import { releases as texts } from "../../texts/releases";
import sheet from "../shared/Sheet.module.css";
import classes from "./Releases.module.css";

export function MetricTable({ result }: { result: MetricResult }) {
  const names = result.arms.map(({ name }) => name);
  return (
    // Focusable, because scrollable content must be scrollable by keyboard.
    <section className={sheet.scroll} tabIndex={0} aria-label={texts.calculated(result.name)}>
      <table className={sheet.sheet}>
        <thead>
          <tr>
            <th scope="col">{texts.byStep}</th>
            {names.map((name) => (
              <th key={name} scope="col">
                {armInWords(name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {result.steps.map(({ step, arms }, place) => (
            <tr key={place}>
              <th scope="row">{texts.step(step)}</th>
              <Cells names={names} arms={arms} unit={result.unit} />
            </tr>
          ))}
          {result.steps.length > 1 && (
            <tr>
              <th scope="row">{texts.allSteps}</th>
              <Cells names={names} arms={result.arms} unit={result.unit} />
            </tr>
          )}
        </tbody>
      </table>
    </section>
  );
}

interface CellsProps {
  readonly names: readonly string[];
  readonly arms: readonly ArmResult[];
  readonly unit: string | null;
}

function Cells({ names, arms, unit }: CellsProps) {
  return names.map((name) => (
    <td key={name} className="numbers">
      <Cell arm={arms.find((arm) => arm.name === name)} unit={unit} />
    </td>
  ));
}

function Cell({ arm, unit }: { arm: ArmResult | undefined; unit: string | null }) {
  if (!arm || (arm.rate === null && arm.mean === null)) return texts.none;
  return (
    <>
      {arm.rate !== null && percent(arm.rate)}
      {arm.mean !== null && `${digits(arm.mean)}${unit === null ? "" : ` ${unit}`}`}
      <small className={classes.of}>
        {arm.rate === null ? texts.users(arm.users) : texts.ofUsers(arm.users_with_events, arm.users)}
      </small>
    </>
  );
}
