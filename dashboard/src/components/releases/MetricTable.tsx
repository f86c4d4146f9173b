/** The rates or means of a metric by step and arm. */

import type { ArmResult, MetricResult } from "../../api/releases";
import { armInWords, digits, percent } from "../../lib/releases";
import { releases as texts } from "../../texts/releases";
import classes from "../shared/Sheet.module.css";

export function MetricTable({ result }: { result: MetricResult }) {
  const names = result.arms.map(({ name }) => name);
  return (
    // Focusable, because scrollable content must be scrollable by keyboard.
    <section className={classes.scroll} tabIndex={0} aria-label={texts.calculated(result.name)}>
      <table className={classes.sheet}>
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
      {cellOf(
        arms.find((arm) => arm.name === name),
        unit,
      )}
    </td>
  ));
}

function cellOf(arm: ArmResult | undefined, unit: string | null): string {
  if (!arm) return texts.none;
  const users = arm.users.toLocaleString("en");
  if (arm.rate !== null) return texts.rateCell(percent(arm.rate), arm.users_with_events.toLocaleString("en"), users);
  if (arm.mean === null) return texts.none;
  return texts.meanCell(`${digits(arm.mean)}${unit === null ? "" : ` ${unit}`}`, users);
}
