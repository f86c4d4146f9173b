/** The providers, and what happens on every page when a session begins or ends, or a second factor is demanded. */

import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { onReturn } from "./api/connection";
import { isProblem, Problem } from "./api/problem";
import { takeChanges } from "./lib/madeChanges";
import { styleNonce } from "./lib/nonce";
import { onNewDemand } from "./lib/secondFactorDemand";
import { forgetDrafts } from "./lib/drafts";
import { keepPagesWhile, onSessionChange, wasSignedOut } from "./lib/session";
import { createAppRouter } from "./router";
import { cssVariables, theme } from "./theme";
import { keyOf } from "./api/keys";
import { PROJECT } from "./api/projects";

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

/** Whether a page of a session is open and shows something, which someone may be working on. */
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
  // Whoever is refused, for a role that has changed, sees at once what else it no longer allows.
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
        takeChanges(); // what a call has changed that failed later is not undone with what the next one changes
        onError(error);
      },
      onSuccess: (data, _variables, _context, { meta }) => offerUndo(cache, meta, data),
    }),
    defaultOptions: {
      // Also while the device is offline: the server may be on it, and what has failed says so instead of waiting.
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

/** Says what a call has done, if it says so itself, and offers to undo what can be undone. */
function offerUndo(cache: QueryClient, meta: Record<string, unknown> | undefined, data: unknown): void {
  const made = takeChanges();
  if (!meta?.done || made === null) return;
  // Loaded when something is first changed.
  void import("./components/shared/UndoMessage").then((module) =>
    module.offerUndo(cache, { ...meta, ...(data ?? {}) }, made),
  );
}

function isWorthRepeating(error: Error): boolean {
  return !(error instanceof Problem) || error.status === 0 || error.status >= 500;
}
