/** What many users would get, in several environments. */

import { useMutation } from "@tanstack/react-query";
import { type Choice, type Grid, gridOf } from "../lib/playground";
import { contextOf, type PastedUser } from "../lib/playgroundUsers";
import { client } from "./client";
import { ask } from "./problem";

export const ANSWERS_MAX = 20_000;

interface Asked extends Choice {
  readonly users: readonly PastedUser[];
}

/** A mutation, although it changes nothing: the users must not stay in the cache of queries. */
export function useAskPlayground(projectId: string) {
  return useMutation({
    mutationFn: async (asked: Asked): Promise<Grid> => {
      const answers = await ask(
        client.POST("/api/projects/{project_id}/playground", {
          params: { path: { project_id: projectId } },
          body: {
            environment_ids: asked.environments.map(({ id }) => id),
            users: asked.users.map(contextOf),
            flag_keys: asked.flags.length > 0 ? [...asked.flags] : null,
          },
        }),
      );
      return gridOf(asked.users, asked, answers);
    },
    gcTime: 0,
  });
}
