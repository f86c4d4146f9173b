/** The progress of a release: its steps, when each is due, and what each changes, in words. */

import { digits } from "../../ui/digits";
import type { Rule, Variant } from "../../api/client";
import type { Release, ReleaseStep, Threshold } from "./releasesCalls";
import { releases as texts } from "./releasesTexts";
import { requestMetrics } from "../requestMetrics/requestMetricsTexts";
import { ruleInWords } from "../../ui/conditions/audience";
import { isOpen } from "./releaseState";

export type StepState = "done" | "now" | "next" | "later" | "skipped" | "never";

export interface StepPlace {
  readonly place: number;
  readonly step: ReleaseStep;
  readonly state: StepState;
  /** When it was applied or skipped. */
  readonly at: string | null;
  /** When it is due; null if that follows from the step before, or if nothing is due. */
  readonly due: string | null;
  readonly isLate: boolean;
  /** The number of the later step with which it was applied, because the times of both had passed. */
  readonly foldedInto: number | null;
}

/** The steps of a release in their order. A step is applied twice if the release was paused by a conflict meanwhile. */
export function stepsOf(release: Release): StepPlace[] {
  const inForce = release.applied.findLast((each) => !each.skipped)?.step;
  return release.steps.map((step, place) => {
    const applied = release.applied.find((each) => each.step === place);
    const folded = release.applied.find((each) => each.folded.includes(place));
    const found = applied ?? folded;
    return {
      place,
      step,
      state: found ? stateOfDone(found.skipped, place === inForce && isOpen(release)) : stateOfComing(release, place),
      at: found?.at ?? null,
      due: found ? null : dueOf(release, place),
      isLate: found?.late ?? false,
      foldedInto: applied || !folded || folded.skipped ? null : folded.step,
    };
  });
}

function stateOfDone(isSkipped: boolean, isInForce: boolean): StepState {
  if (isSkipped) return "skipped";
  return isInForce ? "now" : "done";
}

function stateOfComing(release: Release, place: number): StepState {
  if (!isOpen(release)) return "never";
  return place === release.next_step ? "next" : "later";
}

function dueOf(release: Release, place: number): string | null {
  if (!isOpen(release)) return null;
  if (place === release.next_step && release.due_at !== null) return release.due_at;
  return release.steps[place]?.at ?? null;
}

/** The change of a step in words: "25% of users", "Turn on". */
export function changesInWords(changes: ReleaseStep["changes"], rules: readonly Rule[]): string {
  const said = Object.entries(changes).flatMap(([field, value]) => changeInWords(field, value, rules));
  return said.join(", ");
}

function changeInWords(field: string, value: unknown, rules: readonly Rule[]): string[] {
  switch (field) {
    case "enabled":
      return [value === true ? texts.turnOn : texts.turnOff];
    case "rollout_percentage":
      return [texts.share(Number(value))];
    case "variants":
      return [weightsInWords(value as readonly Variant[])];
    case "rules":
      return (value as readonly RuleEdit[]).map((edit) => ruleEditInWords(edit, rules));
    default:
      return [texts.otherField(field)];
  }
}

function weightsInWords(variants: readonly Variant[]): string {
  const total = variants.reduce((sum, { weight }) => sum + weight, 0);
  return variants.map(({ key, weight }) => texts.weight(key, percent(weight / total))).join(", ");
}

interface RuleEdit {
  readonly id?: string;
  readonly enabled?: boolean;
  readonly delete?: boolean;
}

function ruleEditInWords({ id, enabled, delete: isDeleted }: RuleEdit, rules: readonly Rule[]): string {
  if (id === undefined) return texts.newRule;
  const rule = rules.find((each) => each.id === id);
  const name = rule ? ruleInWords(rule) : texts.goneRule;
  if (isDeleted) return texts.deleteRule(name);
  return enabled === undefined ? texts.changeRule(name) : texts.switchRule(name, enabled);
}

/** When a step that is not due yet begins: "1 hour after step 2, and after 500 users". */
export function conditionInWords({ step, place }: Pick<StepPlace, "step" | "place">): string {
  const parts: string[] = [];
  if (typeof step.after_seconds === "number") parts.push(afterInWords(step.after_seconds, place));
  if (step.least_users) parts.push(texts.leastUsers(step.least_users));
  return parts.join(texts.and);
}

function afterInWords(seconds: number, place: number): string {
  if (place === 0) return seconds === 0 ? texts.atOnce : texts.afterCreation(spanInWords(seconds));
  return seconds === 0 ? texts.afterStepAtOnce(place) : texts.afterStep(spanInWords(seconds), place);
}

const SPANS = [
  [86_400, "day"],
  [3_600, "hour"],
  [60, "minute"],
] as const;

/** "90 minutes", "2 days"; the largest unit of which it is a whole number. */
export function spanInWords(seconds: number): string {
  const [size, unit] = SPANS.find(([each]) => seconds >= each && seconds % each === 0) ?? [1, "second"];
  const count = seconds / size;
  return `${count.toLocaleString("en")} ${unit}${count === 1 ? "" : "s"}`;
}

/** The name of a release, or a description if it has none. */
export function nameOf(release: Pick<Release, "name" | "steps" | "guards" | "thresholds">): string {
  if (release.name !== null) return release.name;
  return isSchedule(release) ? texts.schedule : texts.release;
}

/** Whether it is one scheduled change without guards. */
export function isSchedule({ steps, guards, thresholds }: Pick<Release, "steps" | "guards" | "thresholds">): boolean {
  return steps.length === 1 && guards.length === 0 && thresholds.length === 0;
}

/** Whether users and events are counted for it, so that it has results. */
export function isObserved({ steps, guards }: Pick<Release, "steps" | "guards">): boolean {
  return guards.length > 0 || steps.some(({ least_users: least }) => (least ?? 0) > 0);
}

/** A threshold in words: "errors (new-checkout: enabled), per minute, over 5 minutes, above 5". */
export function thresholdInWords({ request_metric: name, measure, labels, above, below, minutes }: Threshold): string {
  const of = Object.entries(labels).map(([label, value]) => `${label}: ${value}`);
  const series = of.length > 0 ? `${name} (${of.join(", ")})` : name;
  const limit = above === null ? texts.below(digits(below ?? 0)) : texts.above(digits(above));
  return `${series}, ${requestMetrics.measures[measure].toLowerCase()}, ${texts.over(spanInWords(minutes * 60))}, ${limit}`;
}

/** The arm of a step, as people say it. */
export function armInWords(name: string): string {
  return name === "on" ? texts.withFlag : name === "off" ? texts.withoutFlag : texts.withVariant(name);
}

/** A share, from 0 to 1, or a rate: with three significant digits, such as "0.0312%" and "14.3%". */
export function percent(share: number): string {
  return `${digits(share * 100)}%`;
}

const MOST_EVIDENCE = 1_000_000;
const LEAST_EVIDENCE = 0.01;

/** Evidence, cut off at a value that is beyond doubt. */
export function evidenceInWords(evidence: number): string {
  if (evidence > MOST_EVIDENCE) return texts.moreThan(digits(MOST_EVIDENCE));
  return evidence < LEAST_EVIDENCE ? texts.lessThan(digits(LEAST_EVIDENCE)) : digits(evidence);
}
