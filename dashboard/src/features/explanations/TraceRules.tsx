/** The rules of a trace, in order, with every condition and the user's value. */

import type { ReactNode } from "react";
import type { ConditionTrace, Explanation, RuleTrace, SegmentTrace } from "./explainCalls";
import { ruleInWords } from "../../ui/conditions/audience";
import { conditionParts, inWords, ruleParts } from "../../ui/conditions/conditions";
import { textOf } from "../../api/json";
import { trace as texts } from "./traceTexts";
import { Parts } from "../../ui/Parts";
import classes from "./Trace.module.css";
import { type Mark, Step } from "./TraceStep";

const MOST_IN_FULL = 5;

export function TraceRules({ trace }: { trace: Explanation }) {
  const { rules, segments, decided_by: decidedBy } = trace;
  if (rules.length === 0) return <Step mark="skipped" title={texts.rulesNone} />;
  const decides = decidedBy.step === "rule";
  const end = decides ? rules.findIndex((each) => each.status === "matched") : rules.length;
  const before = rules.slice(0, end);
  return (
    <Step mark={decides ? "holds" : "fails"} title={texts.rules} decides={decides}>
      {before.length > MOST_IN_FULL ? (
        <Folded summary={texts.others.before(before.length)} rules={before} segments={segments} />
      ) : (
        <Rules rules={before} segments={segments} />
      )}
      <Rules rules={rules.slice(end, end + 1)} segments={segments} />
      {end + 1 < rules.length && (
        <Folded summary={texts.others.after(rules.length - end - 1)} rules={rules.slice(end + 1)} segments={segments} />
      )}
    </Step>
  );
}

interface RulesProps {
  readonly rules: readonly RuleTrace[];
  readonly segments: readonly SegmentTrace[];
}

function Folded({ summary, ...shown }: RulesProps & { summary: string }) {
  return (
    <details className={classes.folded}>
      <summary>{summary}</summary>
      <Rules {...shown} />
    </details>
  );
}

function Rules({ rules, segments }: RulesProps) {
  if (rules.length === 0) return null;
  return (
    <ul className={classes.checks}>
      {rules.map((rule, place) => (
        <Step
          key={rule.id ?? `new ${place}`}
          mark={markOf(rule)}
          title={ruleInWords(rule)}
          decides={rule.status === "matched"}
        >
          <span className={classes.note}>{texts.status[rule.status]}</span>
          <Checks rule={rule} segments={segments} />
        </Step>
      ))}
    </ul>
  );
}

function markOf({ status }: RuleTrace): Mark {
  if (status === "matched") return "holds";
  return status === "not_reached" || status === "disabled" ? "skipped" : "fails";
}

/** The conditions of the rule, if it has more than its sentence says. */
function Checks({ rule, segments }: { rule: RuleTrace; segments: readonly SegmentTrace[] }) {
  if (rule.status === "disabled") return null;
  const checks = [...baseOf(rule, segments), ...rule.conditions.map(conditionOf), ...shareOf(rule)];
  if (checks.length === 0) return null;
  return (
    <ul className={classes.checks}>
      {checks.map(({ holds, title, note }, place) => (
        <Step key={place} mark={holds ? "holds" : "fails"} title={title}>
          {note}
        </Step>
      ))}
    </ul>
  );
}

interface Check {
  readonly holds: boolean;
  readonly title: ReactNode;
  readonly note?: ReactNode;
}

function baseOf(rule: RuleTrace, segments: readonly SegmentTrace[]): Check[] {
  if (rule.segment) {
    const { key, name } = rule.segment;
    const conditions = segments.find((each) => each.key === key)?.conditions ?? [];
    return [{ holds: rule.matches, title: texts.segment(name) }, ...conditions.map(conditionOf)];
  }
  const saysMore = rule.name !== null || rule.conditions.length > 0;
  if (rule.rule_type === "attributes" || !saysMore) return [];
  return [{ holds: rule.matches, title: inWords(ruleParts({ ...rule, conditions: [] })) }];
}

function conditionOf(condition: ConditionTrace): Check {
  return {
    holds: condition.holds,
    title: <Parts parts={conditionParts(condition)} />,
    note: (
      <span className={classes.note}>
        {condition.actual === null ? (
          texts.missing
        ) : (
          <>
            {texts.actual} <code>{textOf(condition.actual)}</code>
          </>
        )}
      </span>
    ),
  };
}

function shareOf({ rollout_percentage: percentage, bucket, status }: RuleTrace): Check[] {
  if (percentage === 100 || (status !== "matched" && status !== "outside_percentage")) return [];
  const isInside = status === "matched";
  return [
    {
      holds: isInside,
      title: bucket === null ? texts.noIdentifier : texts.bucket(bucket, percentage, isInside),
    },
  ];
}
