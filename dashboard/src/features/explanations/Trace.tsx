/** Why a flag is on or off for a user: every step up to the decision. */

import type { Explanation, FlagTrace, PrerequisiteTrace } from "./explainCalls";
import { prerequisiteInWords } from "../../ui/conditions/audience";
import { trace as texts } from "./traceTexts";
import classes from "./Trace.module.css";
import { TraceRules } from "./TraceRules";
import { Step } from "./TraceStep";
import { TraceVariant } from "./TraceVariant";

export default function Trace({ trace }: { trace: Explanation }) {
  return (
    <ol className={classes.steps} aria-label={texts.label}>
      <Steps trace={trace} />
    </ol>
  );
}

function Steps({ trace }: { trace: Explanation }) {
  const { step } = trace.decided_by;
  if (step === "off") return <Step mark="fails" title={texts.isOff} decides />;
  return (
    <>
      <Step mark="holds" title={texts.isOn} />
      {trace.prerequisites.length > 0 && <Prerequisites trace={trace} />}
      {step === "prerequisite" ? <Step mark="skipped" title={texts.rulesSkipped} /> : <TraceRules trace={trace} />}
      {step !== "prerequisite" && <Rest trace={trace} />}
      {trace.variants?.chosen != null && <TraceVariant variants={trace.variants} />}
    </>
  );
}

function Prerequisites({ trace }: { trace: FlagTrace }) {
  const decides = trace.decided_by.step === "prerequisite";
  return (
    <Step mark={decides ? "fails" : "holds"} title={texts.prerequisites} decides={decides}>
      <ul className={classes.checks}>
        {trace.prerequisites.map((each) => (
          <Step key={each.flag_key} mark={each.holds ? "holds" : "fails"} title={prerequisiteInWords(each)}>
            {!each.holds && <span className={classes.note}>{actualOf(each)}</span>}
          </Step>
        ))}
      </ul>
    </Step>
  );
}

function actualOf({ actual }: PrerequisiteTrace): string {
  if (!actual?.enabled) return texts.prerequisiteIs.off;
  return actual.variant === null ? texts.prerequisiteIs.on : texts.prerequisiteGives(actual.variant);
}

/** The step for everyone whom no rule matches. */
function Rest({ trace }: { trace: FlagTrace }) {
  const { rollout } = trace;
  switch (trace.decided_by.step) {
    case "everyone":
      return <Step mark="holds" title={texts.everyone} decides />;
    case "fallthrough":
      return <Step mark="fails" title={texts.fallthrough} decides />;
    case "rollout":
      if (!rollout) return null;
      return (
        <Step
          mark={rollout.inside ? "holds" : "fails"}
          title={rollout.inside ? texts.inside(rollout.percentage) : texts.outside(rollout.percentage)}
          decides
        >
          <span className={classes.note}>
            {rollout.bucket === null
              ? texts.noIdentifier
              : texts.bucket(rollout.bucket, rollout.percentage, rollout.inside)}
          </span>
          {rollout.hashed !== null && <code className={classes.hashed}>{texts.hashed(rollout.hashed)}</code>}
        </Step>
      );
    default:
      return <Step mark="skipped" title={texts.restSkipped} />;
  }
}
