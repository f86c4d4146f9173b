/** On and off over time, as bars. Screen readers get a table with the same numbers. */

import { Text, VisuallyHidden } from "@mantine/core";
import { type ReactNode, useState } from "react";
import type { Bar } from "../../lib/series";
import { axisLabel, inFull } from "../../lib/time";
import { t } from "../../texts";
import classes from "./Bars.module.css";

interface Props {
  readonly bars: readonly Bar[];
  readonly stepSeconds: number;
  /** What is marked between the bars and the axis. */
  readonly marks?: ReactNode;
}

const HEIGHT = 132;
const LABELS = 6;

export function Bars({ bars, stepSeconds, marks }: Props) {
  const [pointed, setPointed] = useState<number | null>(null);
  const most = Math.max(1, ...bars.map((bar) => bar.on + bar.off));
  const total = bars.reduce((sum, bar) => sum + bar.on + bar.off, 0);
  const shown = pointed === null ? undefined : bars[pointed];
  const every = Math.max(1, Math.ceil(bars.length / LABELS));
  return (
    <figure className={classes.figure}>
      <figcaption className={classes.caption}>
        <Legend />
        <Text size="xs" c="dimmed" className="numbers">
          {shown ? t.history.bar(inFull(shown.start), shown.on, shown.off) : t.history.total(total)}
        </Text>
      </figcaption>
      <div className={classes.plot} style={{ height: HEIGHT }} aria-hidden onPointerLeave={() => setPointed(null)}>
        <span className={classes.most}>{most.toLocaleString("en")}</span>
        {bars.map((bar, index) => (
          <div key={bar.start} className={classes.slot} onPointerEnter={() => setPointed(index)}>
            <div className={classes.off} style={{ height: share(bar.off, most) }} />
            <div className={classes.on} style={{ height: share(bar.on, most) }} />
          </div>
        ))}
      </div>
      {marks}
      <div className={classes.axis} aria-hidden>
        {bars.map((bar, index) => (
          <span key={bar.start} className={classes.tick}>
            {index % every === 0 && <span className={classes.label}>{axisLabel(bar.start, stepSeconds)}</span>}
          </span>
        ))}
      </div>
      <Figures bars={bars} />
    </figure>
  );
}

function Legend() {
  return (
    <span className={classes.legend}>
      <span className={classes.keyOn} /> {t.on}
      <span className={classes.keyOff} /> {t.off}
    </span>
  );
}

function Figures({ bars }: { bars: readonly Bar[] }) {
  return (
    <VisuallyHidden>
      <table>
        <caption>{t.history.chart}</caption>
        <tbody>
          {bars
            .filter((bar) => bar.on + bar.off > 0)
            .map((bar) => (
              <tr key={bar.start}>
                <th scope="row">{inFull(bar.start)}</th>
                <td>{t.history.counts(bar.on, bar.off)}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </VisuallyHidden>
  );
}

/** Any number above zero is visible, however small. */
function share(count: number, most: number): string {
  return count === 0 ? "0" : `max(2px, ${(count / most) * 100}%)`;
}
