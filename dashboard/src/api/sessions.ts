/** The sessions of the signed-in account. */

import { useMutation } from "@tanstack/react-query";
import { client } from "./client";
import { ask } from "./problem";
import type { components } from "./schema";
import { read } from "./reads";
import { useOutdating } from "./queryKeys";

export type SignIn = components["schemas"]["SessionOut"];

export const sessionsQuery = read("/api/me/sessions");

export function useEndOtherSessions() {
  return useMutation({
    mutationFn: () => ask(client.DELETE("/api/me/sessions")),
    onSettled: useOutdating(sessionsQuery),
  });
}

export function useEndSession() {
  return useMutation({
    mutationFn: (id: string) =>
      ask(client.DELETE("/api/me/sessions/{session_id}", { params: { path: { session_id: id } } })),
    onSettled: useOutdating(sessionsQuery),
  });
}
