/** The sessions of the signed-in account. */

import { useMutation } from "@tanstack/react-query";
import { client } from "../../api/client";
import { ask } from "../../api/problem";
import type { components } from "../../api/schema";
import { read } from "../../api/reads";
import { useOutdating } from "../../api/queryKeys";

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
