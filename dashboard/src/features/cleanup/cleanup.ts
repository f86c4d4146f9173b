/** Describes why flags may be removed and what that alters, also as the text of a pull request. */

import type { Candidate, Reason, Wanted } from "./cleanupCalls";
import type { Environment } from "../../api/client";
import type { FlagInBrief } from "../flags/projectFlagsCalls";
import { cleanup as texts, pullRequest as request } from "./cleanupTexts";
import { audienceOf } from "../flags/projectFlags";
import { dateOf } from "../../ui/time";

export const PERIODS = [14, 30, 60, 90] as const;
export const REASONS: readonly Reason[] = ["on_for_everyone", "off_for_everyone", "not_evaluated", "unchanged"];

export interface CleanupSearch {
  readonly days?: number;
  readonly reason?: Reason;
  readonly kept?: true;
}

/** The basis of the candidates: the time that the evaluations cover, and the environments of the project. */
export interface Evidence {
  readonly days: number;
  readonly since: string;
  readonly historySince: string | null;
  readonly until: string;
  readonly hiddenEnvironments: number;
  readonly environment: Pick<Environment, "name">;
  readonly environments: readonly Pick<Environment, "id" | "name">[];
}

export function wantedOf({ days, reason, kept }: Readonly<Record<string, unknown>>): Wanted {
  return {
    days: PERIODS.find((each) => each === days) ?? 30,
    reason: REASONS.find((each) => each === reason) ?? null,
    kept: kept === true,
  };
}

export function reasonsInWords(candidate: Candidate, evidence: Evidence): string[] {
  const { historySince: begin, days } = evidence;
  return sentences(candidate, begin === null ? texts.forDays(days) : texts.since(dateOf(begin)));
}

function sentences({ reasons, evaluations, changed_at: changed }: Candidate, period: string): string[] {
  const { on, off, reported, variant } = evaluations;
  const words: Record<Reason, () => string> = {
    on_for_everyone: () => texts.on(period, on, variant),
    off_for_everyone: () => texts.off(period, off),
    not_evaluated: () => texts.notEvaluated(period),
    unchanged: () => texts.unchanged(dateOf(changed)),
  };
  return [...reasons.map((reason) => words[reason]()), ...(reported > 0 ? [texts.reported(reported)] : [])];
}

/** Says what changes when a flag is removed from the code and the environment. */
export function consequences(candidate: Candidate, { environments, hiddenEnvironments }: Evidence): string[] {
  const others = candidate.elsewhere.map((flag) => {
    const say = (isSame(candidate, flag) ?? true) ? texts.isThe : texts.differs;
    return say(nameOf(flag, environments), stateOf(flag));
  });
  return [
    codeAfter(candidate),
    ...(candidate.needed_by.length > 0 ? [texts.neededBy(candidate.needed_by)] : []),
    ...others,
    ...(hiddenEnvironments > 0 ? [texts.hidden(hiddenEnvironments)] : []),
  ];
}

/** The text, in Markdown, of a pull request that removes these flags. */
export function pullRequestText(candidates: readonly Candidate[], evidence: Evidence): string {
  const [first] = candidates;
  const period = request.period(dateOf(evidence.historySince ?? evidence.since), dateOf(evidence.until));
  const title = first && candidates.length === 1 ? request.one(first.key) : request.several(candidates.length);
  const stays = candidates.flatMap((each) => [
    request.flag(each.key, each.owner),
    ...[branchOf(each), ...sentences(each, period)].map((sentence) => `  - ${sentence}`),
  ]);
  const checks = candidates.flatMap((each) => [
    request.replace(each.key),
    ...each.needed_by.map((by) => request.needed(by, each.key)),
    ...each.elsewhere
      .filter((flag) => isSame(each, flag) !== true)
      .map((flag) => request.elsewhere(each.key, nameOf(flag, evidence.environments), stateOf(flag))),
  ]);
  const last = [...(evidence.hiddenEnvironments > 0 ? [request.hidden] : []), request.tests, request.archive];
  const parts = [[title], [request.intro(evidence.environment.name)], [request.stays], stays, [request.checks]];
  return `${[...parts, [...checks, ...last]].map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

function codeAfter({ reasons, evaluations: { on, off, variant } }: Candidate): string {
  if (reasons.includes("on_for_everyone")) return variant === null ? texts.becomesOn : texts.becomesVariant(variant);
  if (reasons.includes("off_for_everyone")) return texts.becomesOff;
  return reasons.includes("not_evaluated") ? texts.becomesNothing : texts.depends(on, off);
}

function branchOf({ reasons, evaluations: { variant } }: Candidate): string {
  if (reasons.includes("on_for_everyone")) return variant === null ? request.on : request.variant(variant);
  return reasons.includes("off_for_everyone") ? request.off : request.decide;
}

/** Whether a flag's setting elsewhere equals its result for everyone here; null if it had no single result here. */
function isSame({ reasons }: Candidate, flag: FlagInBrief): boolean | null {
  const isLive = flag.archived_at === null;
  if (reasons.includes("on_for_everyone")) {
    const isForEveryone = flag.rules === 0 && flag.prerequisites === 0 && flag.fallthrough === "rollout";
    return isLive && flag.enabled && isForEveryone && flag.rollout_percentage % 100 === 0;
  }
  return reasons.includes("off_for_everyone") ? isLive && !flag.enabled : null;
}

function stateOf(flag: FlagInBrief): string {
  if (flag.archived_at !== null) return texts.archived;
  return flag.enabled ? texts.onFor(audienceOf(flag)) : texts.turnedOff;
}

function nameOf(flag: FlagInBrief, environments: Evidence["environments"]): string {
  return environments.find((each) => each.id === flag.environment_id)?.name ?? flag.environment_id;
}
