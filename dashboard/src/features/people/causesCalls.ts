/** Why results of flags changed between two recorded evaluations of a user. */

import { queryOptions } from "@tanstack/react-query";
import type { Change } from "../../api/changes";
import { client, type EnvironmentPath } from "../../api/client";
import type { AnswerChange } from "./peopleCalls";
import { ask } from "../../api/problem";
import type { components } from "../../api/schema";
import { keyOf } from "../../api/queryKeys";

export type Cause = components["schemas"]["CauseOut"];

export interface FoundCause {
  readonly cause: Cause;
  readonly changes: readonly Change[];
}

const CAUSES = "/api/projects/{project_id}/environments/{env_id}/evaluations/changes/causes";
// A request examines as many results as it has time for; each examines at least one.
const MOST_REQUESTS = 10;
const MOST_RESULTS = 50;

/** The causes of changed results, by `causeKey`. */
export function causesQuery(path: EnvironmentPath, results: readonly AnswerChange[]) {
  return queryOptions({
    queryKey: keyOf(CAUSES, path, results.map(causeKey)),
    queryFn: async ({ signal }) => {
      const found = new Map<string, FoundCause>();
      let rest = results;
      for (let request = 0; request < MOST_REQUESTS && rest.length > 0; request += 1) {
        const asked = rest.slice(0, MOST_RESULTS);
        const { items, changes } = await ask(
          client.POST(CAUSES, {
            params: { path },
            body: { results: asked.map(toBody) },
            signal,
          }),
        );
        for (const [index, cause] of items.entries()) {
          const result = asked[index];
          if (result === undefined || cause.kind === "not_examined") continue;
          found.set(causeKey(result), { cause, changes: changes.filter(({ id }) => cause.change_ids.includes(id)) });
        }
        rest = rest.filter((each) => !found.has(causeKey(each)));
      }
      return found;
    },
    enabled: results.length > 0,
    staleTime: Number.POSITIVE_INFINITY, // recorded results do not change
    retry: false,
  });
}

export function causeKey({ flag_key: key, before, after }: AnswerChange): string {
  return `${key} ${before.evaluation_id} ${after.evaluation_id}`;
}

function toBody({ flag_key, before, after }: AnswerChange) {
  return { flag_key, before_evaluation_id: before.evaluation_id, after_evaluation_id: after.evaluation_id };
}
