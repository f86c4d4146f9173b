/** Experiments over the variants of a flag, as they are chosen in the dashboard, and the releases that they become. */

import type { Flag } from "../../api/client";
import { Problem } from "../../api/problem";
import type { GuardAction, NewRelease } from "./releasesCalls";
import { experiments as texts } from "./experimentsTexts";
import { scaled } from "../../ui/weights";

type Target = Pick<Flag, "enabled" | "fallthrough" | "rollout_percentage" | "variants">;

export interface ExperimentDraft {
  readonly control: string;
  /** In tenths of a percent, in the order of the flag's variants. */
  readonly weights: readonly number[];
  readonly metrics: readonly string[];
  readonly action: GuardAction;
  readonly serverKeysOnly: boolean;
  readonly name: string;
}

/** Why there can be no experiment over the variants of a flag; null if there can. */
export function refusalOf({ rollout_percentage: percentage }: Pick<Flag, "rollout_percentage">): string | null {
  return percentage > 0 && percentage < 100 ? texts.hasRollout(percentage) : null;
}

export function draftOf({ variants }: Pick<Flag, "variants">, metrics: readonly string[]): ExperimentDraft {
  const weights = scaled(variants.map(({ weight }) => weight));
  return { control: variants[0]?.key ?? "", weights, metrics, action: "notify", serverKeysOnly: false, name: "" };
}

/** The release of an experiment. Throws a Problem with the fields that are wrong. */
export function experimentOf(draft: ExperimentDraft, flag: Target): NewRelease {
  const { control, weights, metrics, action, serverKeysOnly, name } = draft;
  const variants = flag.variants.map((each, place) => ({ ...each, weight: weights[place] ?? 0 }));
  const first = variants.filter(({ key }) => key === control);
  const wrong = [
    variants.filter(({ weight }) => weight > 0).length < 2 && { field: "weights", message: texts.needsTwo },
    first[0]?.weight === 0 && { field: "control", message: texts.needsControl },
    metrics.length === 0 && { field: "metrics", message: texts.needsMetric },
  ].filter((each) => each !== false);
  if (wrong.length > 0) throw new Problem(400, texts.needsMetric, wrong);
  return {
    name: name.trim() || null,
    steps: [
      {
        after_seconds: 0,
        changes: {
          ...(!flag.enabled && { enabled: true }),
          ...(flag.fallthrough === "off" && { fallthrough: "rollout" as const }),
          variants: [...first, ...variants.filter(({ key }) => key !== control)],
        },
      },
    ],
    guards: metrics.map((metric) => ({ metric, action })),
    ...(serverKeysOnly && { counts: "server_keys" as const }),
  };
}

/** Whether users get another variant: their places among the weights change. */
export function movesUsers({ variants }: Pick<Flag, "variants">, { control, weights }: ExperimentDraft): boolean {
  const before = scaled(variants.map(({ weight }) => weight));
  return variants[0]?.key !== control || before.some((weight, place) => weight !== weights[place]);
}
