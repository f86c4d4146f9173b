/** Calls that make a release of a flag step by step, from presets. Shares of users can be set only through the API. */

import type { Flag, FlagPath } from "../../api/client";
import type { GuardAction, NewRelease } from "./releasesCalls";
import { addressOf, shell, ZERO_MEANS_EVERYONE } from "../../ui/snippets";

export const PRESETS = ["ramp", "canary", "experiment"] as const;
export type Preset = (typeof PRESETS)[number];
export const SPANS = [600, 3_600, 86_400, 604_800] as const;
export const CALL_LANGUAGES = ["curl", "python"] as const;
export type CallLanguage = (typeof CALL_LANGUAGES)[number];

type Target = Pick<Flag, "fallthrough" | "variants">;

/** Whether an experiment compares the variants of a flag, instead of users with the flag and without. */
export function comparesVariants({ variants }: Pick<Flag, "variants">): boolean {
  return variants.filter(({ weight }) => weight > 0).length > 1;
}

const SHARES: Readonly<Record<Exclude<Preset, "experiment">, readonly number[]>> = {
  ramp: [5, 25, 50, 100],
  canary: [10, 100],
};

/**
 * The body of the call. Guards of an experiment only report, because an experiment is for learning, not for a rollout.
 */
export function presetRelease(
  preset: Preset,
  flag: Target,
  metrics: readonly string[],
  spanSeconds: number,
  serverKeysOnly = false,
): NewRelease & { readonly name: string } {
  const shares = preset === "experiment" ? [comparesVariants(flag) ? 100 : 50] : SHARES[preset];
  const action: GuardAction = preset === "experiment" ? "notify" : "turn_off";
  return {
    name: NAMES[preset],
    steps: shares.map((percentage, place) => ({
      after_seconds: place === 0 ? 0 : spanSeconds,
      changes: {
        ...(place === 0 && { enabled: true }),
        // Without it, the flag would be on only for users who match a rule, and there would be no comparison.
        ...(place === 0 && flag.fallthrough === "off" && { fallthrough: "rollout" as const }),
        rollout_percentage: percentage,
      },
    })),
    guards: metrics.map((metric) => ({ metric, action })),
    ...(serverKeysOnly && { counts: "server_keys" as const }),
  };
}

const NAMES: Readonly<Record<Preset, string>> = { ramp: "Slow start", canary: "Canary", experiment: "Experiment" };

/** The call with a token; null stands for the variable that contains it. */
export function releaseCall(
  language: CallLanguage,
  origin: string,
  path: FlagPath,
  body: NewRelease,
  token: string | null,
): string {
  const address = `${addressOf(origin, path)}/releases`;
  return language === "curl" ? curlCall(address, body, token) : pythonCall(address, body, token);
}

function curlCall(address: string, body: NewRelease, token: string | null): string {
  return `${ZERO_MEANS_EVERYONE}
curl -s ${address} \\
  -H "Authorization: Bearer ${token ?? "$FLAGSTAFF_TOKEN"}" \\
  -H 'Content-Type: application/json' \\
  -d ${shell(lined(body, JSON.stringify))}`;
}

function pythonCall(address: string, body: NewRelease, token: string | null): string {
  const given = token === null ? 'os.environ["FLAGSTAFF_TOKEN"]' : JSON.stringify(token);
  return `${token === null ? "import os\n\n" : ""}import requests

token = ${given}
response = requests.post(
    "${address}",
    headers={"Authorization": f"Bearer {token}"},
    ${ZERO_MEANS_EVERYONE}
    json=${lined(body, inPython).replaceAll("\n", "\n    ")},
    timeout=10,
)
response.raise_for_status()
print(response.json()["state"])`;
}

/** A body with a line for each step and guard. */
function lined(body: NewRelease, write: (value: unknown) => string): string {
  const fields = Object.entries(body).map(([name, value]) => {
    if (!Array.isArray(value)) return `  ${write(name)}: ${write(value)}`;
    const items = value.map((each) => `    ${write(each)}`).join(",\n");
    return `  ${write(name)}: [${items === "" ? "" : `\n${items}\n  `}]`;
  });
  return `{\n${fields.join(",\n")}\n}`;
}

/** A value of JSON as Python writes it. */
function inPython(value: unknown): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(inPython).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  const items = Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${inPython(each)}`);
  return `{${items.join(", ")}}`;
}
