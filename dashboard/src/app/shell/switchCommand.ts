/** Parses texts in the palette that turn a flag on or off: "turn off new-checkout in Production". */

import type { Environment } from "../../api/client";
import type { ProjectFlag } from "../../features/flags/flagCache";
import type { FlagInBrief } from "../../features/flags/projectFlagsCalls";

type Place = Pick<Environment, "id" | "name" | "key">;

export interface SwitchCommand {
  readonly enabled: boolean;
  /** A part of the flag's key or name; empty for the flag of the page. */
  readonly flag: string;
  /** The environments that match. */
  readonly environments: readonly Place[];
  /** Whether it is meant in all of them at once. */
  readonly everywhere: boolean;
}

const ALL = /^all(\s+environments)?\s*$/i;
const WISH = /^\s*(?:turn\s+(on|off)|(enable)|disable)(?:\s+(.*))?$/i;

/** Null if the query is about something else. */
export function readSwitchCommand(query: string, environments: readonly Place[]): SwitchCommand | null {
  const found = WISH.exec(query);
  if (!found) return null;
  const [, state, enable, rest = ""] = found;
  const enabled = enable !== undefined || state?.toLowerCase() === "on";
  const parts = /^(?:(.*)\s)?in\s+(\S.*)$/i.exec(rest);
  const named = parts ? environments.filter((each) => startsWith(each, parts[2] ?? "")) : [];
  const flag = parts?.[1]?.trim() ?? "";
  if (named.length > 0) return { enabled, flag, environments: named, everywhere: false };
  if (parts && ALL.test(parts[2] ?? "")) return { enabled, flag, environments, everywhere: !enabled };
  // A flag can have "in" in its name as well.
  return { enabled, flag: rest.trim(), environments, everywhere: false };
}

function startsWith({ name, key }: Place, text: string): boolean {
  const start = text.trim().toLowerCase();
  return name.toLowerCase().startsWith(start) || key.startsWith(start);
}

export interface Switchable {
  readonly key: string;
  readonly flag: FlagInBrief;
  readonly environmentId: string;
}

/**
 * The flags that the command would change: first those of the environment of the page, then in the environments' order.
 * With `wanted`, those that have this state.
 */
export function switchable(
  command: SwitchCommand,
  found: readonly ProjectFlag[],
  here: string | null,
  wanted = !command.enabled,
): Switchable[] {
  const order = command.environments.map(({ id }) => id).toSorted((a, b) => Number(b === here) - Number(a === here));
  return order.flatMap((id) =>
    found.flatMap(({ key, flags }) =>
      flags
        .filter((flag) => flag.environment_id === id && flag.archived_at === null && flag.enabled === wanted)
        .map((flag) => ({ key, flag, environmentId: id })),
    ),
  );
}
