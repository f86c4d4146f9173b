/** The sessions of the signed-in account. */

import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { client } from "./client";
import { ask } from "./problem";
import type { components } from "./schema";

export type SignIn = components["schemas"]["SessionOut"];

export const sessionsQuery = queryOptions({
  queryKey: ["sessions"],
  queryFn: ({ signal }) => ask(client.GET("/api/me/sessions", { signal })),
});

export function useEndOtherSessions() {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: () => ask(client.DELETE("/api/me/sessions")),
    onSettled: () => cache.invalidateQueries({ queryKey: sessionsQuery.queryKey }),
  });
}

export function useEndSession() {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (id: string) =>
      ask(client.DELETE("/api/me/sessions/{session_id}", { params: { path: { session_id: id } } })),
    onSettled: () => cache.invalidateQueries({ queryKey: sessionsQuery.queryKey }),
  });
}
