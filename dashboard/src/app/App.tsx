/** The providers, and what happens on every page when a session begins or ends, or a second factor is demanded. */

import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { onReturn } from "../api/outage";
import { isProblem, Problem } from "../api/problem";
import { takeChanges } from "../api/madeChanges";
import { styleNonce } from "./nonce";
import { onNewDemand } from "../api/secondFactorDemand";
import { forgetDrafts } from "../ui/editing/drafts";
import { keepPagesWhile, onSessionChange, wasSignedOut } from "../api/session";
import { createAppRouter } from "./router";
import { cssVariables, theme } from "../ui/theme";
import { keyOf } from "../api/queryKeys";
import { PROJECT } from "../api/projects";

export function App() {
  const [cache] = useState(createCache);
  const [router] = useState(() => createAppRouter(cache));
  useEffect(
    () =>
      onSessionChange((change) => {
        if (change === "interrupted") return;
        if (change === "resumed") return void cache.invalidateQueries();
        if (change === "ended" && wasSignedOut()) forgetDrafts();
        cache.clear(); // data of one account must never be shown to the next
        void router.invalidate();
      }),
    [cache, router],
  );
  useEffect(() => keepPagesWhile(() => showsPage(cache, router)), [cache, router]);
  useEffect(() => onReturn(() => void cache.invalidateQueries()), [cache]);
  useEffect(
    () =>
      onNewDemand(cache, () => {
        void cache.resetQueries();
        void router.invalidate();
      }),
    [cache, router],
  );
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={styleNonce}
    >
      <QueryClientProvider client={cache}>
        <Notifications position="bottom-right" autoClose={6000} limit={4} />
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  );
}

/** Whether a page of a session is open and shows content that someone may be working on. */
function showsPage(cache: QueryClient, { state }: ReturnType<typeof createAppRouter>): boolean {
  const isOpen = state.matches.length > 1 && state.matches.every(({ status }) => status === "success");
  const isSignedIn = state.matches.some(({ routeId }) => routeId === "/signed-in");
  const isFilled = cache
    .getQueryCache()
    .findAll({ type: "active" })
    .some(({ state: { data } }) => data !== undefined);
  return isOpen && isSignedIn && isFilled;
}

function createCache(): QueryClient {
  // After a refusal because of a changed role, everything else that the role no longer allows is shown at once.
  const onError = (error: Error) => {
    if (!isProblem(error, "forbidden") && !isProblem(error, "not_found")) return;
    void cache.invalidateQueries({ queryKey: keyOf(PROJECT) });
  };
  const cache: QueryClient = new QueryClient({
    queryCache: new QueryCache({
      onError: (error, { queryKey }) => {
        if (queryKey[0] !== PROJECT) onError(error);
      },
    }),
    mutationCache: new MutationCache({
      onError: (error) => {
        takeChanges(); // changes of a call that failed later are not undone together with those of the next call
        onError(error);
      },
      onSuccess: (data, _variables, _context, { meta }) => offerUndo(cache, meta, data),
    }),
    defaultOptions: {
      // Also while the device is offline: the server may run on it, and a failed call reports the failure instead of
      // waiting.
      mutations: { networkMode: "always" },
      queries: {
        networkMode: "always",
        staleTime: 10_000,
        retry: (failures, error) => failures < 2 && isWorthRepeating(error),
      },
    },
  });
  return cache;
}

/** Shows what a call has done, if the call defines a message, and offers to undo it if possible. */
function offerUndo(cache: QueryClient, meta: Record<string, unknown> | undefined, data: unknown): void {
  const made = takeChanges();
  if (!meta?.done || made === null) return;
  // Loaded when something is first changed.
  void import("../features/audit/UndoMessage").then((module) =>
    module.offerUndo(cache, { ...meta, ...(data ?? {}) }, made),
  );
}

function isWorthRepeating(error: Error): boolean {
  return !(error instanceof Problem) || error.status === 0 || error.status >= 500;
}
