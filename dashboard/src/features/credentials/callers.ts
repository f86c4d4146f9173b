/** Names and sorts the callers of flags. */

import type { Caller } from "./callersCalls";
import type { SdkKey } from "./sdkKeysCalls";
import { callers as texts } from "./callersTexts";

export const SORTS = ["last", "rate", "day"] as const;
export type Sort = (typeof SORTS)[number];

const numberOf: Readonly<Record<Sort, (caller: Caller) => number>> = {
  last: ({ last_used_at: at }) => Date.parse(at),
  rate: ({ requests_per_minute: rate }) => rate,
  day: ({ requests_last_24_hours: count }) => count,
};

/** Those with the most requests first; those with equal numbers stay in the order of their last use. */
export function sorted(callers: readonly Caller[], by: Sort): readonly Caller[] {
  return callers.toSorted((a, b) => numberOf[by](b) - numberOf[by](a));
}

export function nameOf({ user_agent: name, is_others: areOthers }: Caller): string {
  return areOthers ? texts.others : name || texts.noUserAgent;
}

/** The name of the key that a caller uses; `keys` are those that exist, if they may be seen. */
export function keyNameOf({ sdk_key_id: id }: Caller, keys: readonly SdkKey[] | undefined): string {
  if (id === null) return texts.projectKey;
  if (keys === undefined) return texts.unknownKey(id);
  const key = keys.find((each) => each.id === id);
  return key ? texts.keyName(key.name, key.hint) : texts.revokedKey;
}

export function callerInWords(caller: Caller): string {
  return texts.from(nameOf(caller), caller.network, texts.protocols[caller.protocol]);
}

/** When a key was used last: what is known of the key, or of its callers if that is later. */
export function lastUseOf(key: SdkKey, callers: readonly Caller[] = []): string | null {
  const times = [key.last_used_at, ...callers.map((each) => each.last_used_at)].filter((at) => at !== null);
  return times.reduce<string | null>(
    (last, at) => (last === null || Date.parse(at) > Date.parse(last) ? at : last),
    null,
  );
}
