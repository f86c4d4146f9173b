/** Which variant the user gets, with the user's place among the weights. */

import type { VariantsTrace } from "./explainCalls";
import { trace as texts } from "./traceTexts";
import classes from "./Trace.module.css";
import { Step } from "./TraceStep";
import { WeightBar } from "../../ui/WeightBar";

export function TraceVariant({ variants }: { variants: VariantsTrace }) {
  const { chosen, by, position, hashed, total_weight: total, ranges } = variants;
  const range = ranges.find((each) => each.key === chosen);
  return (
    <Step mark="holds" title={texts.variant(chosen ?? "")}>
      {by === "weight" && position !== null && range ? (
        <>
          <span className={classes.note}>{texts.position(position, total, range.from, range.to - 1)}</span>
          <div className={classes.place}>
            <WeightBar weights={ranges.map((each) => each.to - each.from)} />
            <span className={classes.pin} style={{ left: `${((position + 0.5) / total) * 100}%` }} aria-hidden />
          </div>
          {hashed !== null && <code className={classes.hashed}>{texts.hashed(hashed)}</code>}
        </>
      ) : (
        <span className={classes.note}>{by === "rule" ? texts.variantBy.rule : texts.variantBy.no_identifier}</span>
      )}
    </Step>
  );
}
