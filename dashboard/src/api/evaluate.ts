/** The runtime endpoint, called as an application calls it: with the SDK key, counted and recorded like any other call. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { client } from "./client";
import { ask } from "./problem";

export interface Asked {
  readonly userId: string;
  readonly userEmail: string;
}

export function useEvaluate(sdkKey: string, environment: { readonly id: string; readonly key: string }) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: ({ userId, userEmail }: Asked) =>
      ask(
        client.POST("/sdk/v1/evaluate", {
          headers: { "X-SDK-Key": sdkKey },
          body: {
            environment: environment.key,
            context: { user_id: userId.trim() || null, user_email: userEmail.trim() || null },
          },
        }),
      ),
    onSuccess: () => cache.invalidateQueries({ queryKey: ["evaluations", environment.id] }),
  });
}
