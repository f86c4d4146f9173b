// @vitest-environment happy-dom

import { QueryClient } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { keyOf } from "./queryKeys";
import { Problem } from "./problem";
import { DEMANDED, onNewDemand } from "./secondFactorDemand";

const demanded = new Problem(403, "", [], null, { type: `urn:flagstaff:error:${DEMANDED}` });
const refuse = () => Promise.reject(demanded);
const listener = vi.fn();
let cache: QueryClient;
let stop: () => void;

beforeEach(() => {
  listener.mockClear();
  cache = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  stop = onNewDemand(cache, listener);
});
afterEach(() => stop());

const act = (mutationFn: () => Promise<never>) =>
  cache
    .getMutationCache()
    .build(cache, { mutationFn })
    .execute(undefined)
    .catch(() => null);

it("tells of an action that is refused", async () => {
  await act(refuse);
  expect(listener).toHaveBeenCalledOnce();
});

it("tells of data that was there, but not of data that never was, so that asking again cannot go on forever", async () => {
  await cache.query({ queryKey: keyOf("/api/projects"), queryFn: refuse }).catch(() => null);
  expect(listener).not.toHaveBeenCalled();
  cache.setQueryData(keyOf("/api/me/account"), 1);
  await cache.query({ queryKey: keyOf("/api/me/account"), queryFn: refuse }).catch(() => null);
  expect(listener).toHaveBeenCalledOnce();
});

it("tells of no other refusal", async () => {
  await act(() => Promise.reject(new Problem(403, "")));
  expect(listener).not.toHaveBeenCalled();
});
