/** The runtime endpoint, called as an application calls it: with the SDK key, counted and recorded like any other call. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { client } from "./client";
import { ask } from "./problem";

export interface Attribute {
  readonly name: string;
  readonly value: string;
}

export interface Asked {
  readonly userId: string;
  readonly userEmail: string;
  readonly attributes: readonly Attribute[];
}

export function useEvaluate(sdkKey: string, environment: { readonly id: string; readonly key: string }) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (asked: Asked) =>
      ask(
        client.POST("/sdk/v1/evaluate", {
          headers: { "X-SDK-Key": sdkKey },
          body: { environment: environment.key, context: contextOf(asked) },
        }),
      ),
    onSuccess: () => cache.invalidateQueries({ queryKey: ["evaluations", environment.id] }),
  });
}

function contextOf({ userId, userEmail, attributes }: Asked) {
  const custom = attributes.map(({ name, value }) => [name.trim(), value] as const).filter(([name]) => name);
  return {
    user_id: userId.trim() || null,
    user_email: userEmail.trim() || null,
    // The schema describes an object with any fields, for which the generated type has no values.
    ...(custom.length > 0 && { custom_attributes: Object.fromEntries(custom) as Record<string, never> }),
  };
}
