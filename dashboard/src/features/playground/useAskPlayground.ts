/** Loads the results of users, and puts them into a grid. */

import { useMutation } from "@tanstack/react-query";
import { askPlayground } from "./playgroundCalls";
import { type Choice, type Grid, gridOf } from "./grid";
import { contextOf, type PastedUser } from "./playgroundUsers";

interface Asked extends Choice {
  readonly users: readonly PastedUser[];
}

/** A mutation, although it changes nothing: the users must not stay in the cache of queries. */
export function useAskPlayground(projectId: string) {
  return useMutation({
    mutationFn: async (asked: Asked): Promise<Grid> => {
      const answers = await askPlayground(projectId, {
        environment_ids: asked.environments.map(({ id }) => id),
        users: asked.users.map(contextOf),
        flag_keys: asked.flags.length > 0 ? [...asked.flags] : null,
      });
      return gridOf(asked.users, asked, answers);
    },
    gcTime: 0,
  });
}
