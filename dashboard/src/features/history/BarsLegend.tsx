/** The meaning of a chart's colours and, if two series are compared, which bars belong to which, with their totals. */

import type { CSSProperties } from "react";
import { type Chart, inWords, totalOf } from "./chartBars";
import type { Colour } from "./chartColours";
import type { Scale } from "./chartView";
import { charts as texts } from "./chartsTexts";
import classes from "./Bars.module.css";

/** The colour of a part, for its bars and its key. */
export const partStyle = ({ light, dark }: Colour) => ({ "--light": light, "--dark": dark }) as CSSProperties;

export function BarsLegend({ chart: { parts, series }, scale }: { chart: Chart; scale: Scale }) {
  const totals = series.map((each) => ({ name: each.name, whole: totalOf(each, parts) }));
  return (
    <div className={classes.legends}>
      <div className={classes.legend}>
        {parts.map(({ key, name, colour, isStriped }) => (
          <span key={key} className={classes.entry}>
            <span className={classes.key} data-striped={isStriped || undefined} style={partStyle(colour)} />
            <span className="break">{name}</span>
          </span>
        ))}
        {totals.length === 1 && totals[0] && (
          <span className={classes.sum}>{texts.results(totals[0].whole.total)}</span>
        )}
      </div>
      {totals.length > 1 && (
        <ul className={classes.compared}>
          {totals.map(({ name, whole }, place) => (
            <li key={place}>
              <span className={classes.key} data-compared={place > 0 || undefined} aria-hidden />
              <span className="break">
                <b>{name}</b>: {texts.results(whole.total)}
                {whole.total > 0 && `, ${inWords(whole, parts, scale)}`}
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
