import { expect, it } from "vitest";
import type { Caller } from "./callersCalls";
import type { SdkKey } from "./sdkKeysCalls";
import { callerInWords, keyNameOf, lastUseOf, nameOf, sorted } from "./callers";

const caller: Caller = {
  protocol: "ofrep",
  sdk_key_id: "0190a8b0-0000-7000-8000-000000000001",
  user_agent: "shop/1.0",
  network: "192.0.2.0/24",
  is_others: false,
  requests_per_minute: 2,
  requests_last_24_hours: 100,
  first_used_at: "2026-11-20T10:00:00Z",
  last_used_at: "2026-11-20T12:00:00Z",
};
const key = { id: caller.sdk_key_id, name: "Shop", hint: "abcd", last_used_at: null } as SdkKey;

it("orders callers by what is chosen, and keeps the order of those that are equal", () => {
  const quick = { ...caller, requests_per_minute: 9, last_used_at: "2026-11-20T11:00:00Z" };
  const many = { ...caller, requests_last_24_hours: 900, last_used_at: "2026-11-20T10:00:00Z" };
  expect(sorted([many, quick, caller], "last")).toEqual([caller, quick, many]);
  expect(sorted([caller, many, quick], "rate")).toEqual([quick, caller, many]);
  expect(sorted([caller, quick, many], "day")).toEqual([many, caller, quick]);
});

it("names a caller by its user agent, its network and its protocol", () => {
  expect(callerInWords(caller)).toBe("shop/1.0 from 192.0.2.0/24 (OFREP)");
  expect(callerInWords({ ...caller, user_agent: "", network: null })).toBe("Without a user agent (OFREP)");
  expect(nameOf({ ...caller, user_agent: "", is_others: true })).toBe("Others");
});

it("names the key of a caller, if it may be seen and still exists", () => {
  expect(keyNameOf(caller, [key])).toBe("Shop (…abcd)");
  expect(keyNameOf(caller, [])).toBe("A revoked key");
  expect(keyNameOf(caller, undefined)).toBe("Key 000000000001");
  expect(keyNameOf({ ...caller, sdk_key_id: null }, undefined)).toBe("The project’s key");
});

it("knows the last use of a key from the key or from its callers", () => {
  expect(lastUseOf(key)).toBeNull();
  expect(lastUseOf(key, [caller])).toBe(caller.last_used_at);
  expect(lastUseOf({ ...key, last_used_at: "2026-11-20T12:00:01Z" }, [caller])).toBe("2026-11-20T12:00:01Z");
});
