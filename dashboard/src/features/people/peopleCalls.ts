/** The results of one user of the applications: present ones, recorded ones, and how they changed. */

import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { boundsOf, contextFor, newestOf, type PersonSearch, rowsOf } from "./person";
import { client, type Environment, type EnvironmentPath } from "../../api/client";
import type { Evaluation } from "../history/historyCalls";
import { ask } from "../../api/problem";
import type { components } from "../../api/schema";
import { keyOf } from "../../api/queryKeys";
import { readPages } from "../../api/pagedReads";

type EvaluationsPage = components["schemas"]["EvaluationsPageOut"];
export type AnswerChange = components["schemas"]["AnswerChangeOut"];

const EVALUATIONS = "/api/projects/{project_id}/environments/{env_id}/evaluations";
const EVENTS = "/api/projects/{project_id}/environments/{env_id}/events";
const ANSWERS = "/api/projects/{project_id}/environments/{env_id}/answers";
const ROWS = 15; // so that recorded results are found
const RECORDS = 25;
// A search examines a limited part of the history per request.
const MOST_SEARCHES = 5;

export const isNamed = ({ id, email }: PersonSearch): boolean => id !== undefined || email !== undefined;

const userOf = ({ id, email }: PersonSearch) => ({
  ...(id !== undefined && { user_id: id }),
  ...(email !== undefined && { user_email: email }),
});

/** Present results are read again whenever the page is opened, and while it stays open. */
const OF_NOW = { staleTime: 0, refetchInterval: 30_000 };

/**
 * The most informative evaluation of the user in each environment, in the order of the environments: the newest one
 * with attributes, or else the newest one; null where none is found.
 */
export function latestQuery(projectId: string, environments: readonly Environment[], person: PersonSearch) {
  const latestIn = async (environment: Environment, signal: AbortSignal): Promise<Evaluation | null> => {
    const path = { project_id: projectId, env_id: environment.id };
    let cursor: string | null = null;
    for (let search = 0; search < MOST_SEARCHES; search += 1) {
      const query = { ...userOf(person), limit: RECORDS, answers: false, ...(cursor !== null && { cursor }) };
      // Each search begins where the one before it ended.
      const page: EvaluationsPage = await ask(client.GET(EVALUATIONS, { params: { path, query }, signal }));
      const found = page.items.find(({ attributes }) => Object.keys(attributes ?? {}).length > 0) ?? page.items[0];
      if (found) return found;
      if (page.next_cursor === null) break;
      cursor = page.next_cursor;
    }
    return null;
  };
  return queryOptions({
    queryKey: keyOf(
      EVALUATIONS,
      { project_id: projectId },
      "latest",
      userOf(person),
      environments.map(({ id }) => id),
    ),
    queryFn: ({ signal }) => Promise.all(environments.map((each) => latestIn(each, signal))),
    ...OF_NOW,
  });
}

/** The present results for the user, by flag and environment, with the attributes that were recorded last. */
export function answersQuery(
  projectId: string,
  environments: readonly Environment[],
  person: PersonSearch,
  latest: readonly (Evaluation | null)[],
) {
  const search = person.flag ?? null;
  return infiniteQueryOptions({
    queryKey: keyOf(
      ANSWERS,
      { project_id: projectId },
      userOf(person),
      search,
      latest.map((each) => each?.id ?? null),
    ),
    initialPageParam: "",
    queryFn: async ({ pageParam, signal }) =>
      rowsOf(
        await Promise.all(
          environments.map((each, place) =>
            ask(
              client.POST(ANSWERS, {
                params: { path: { project_id: projectId, env_id: each.id } },
                body: {
                  context: contextFor(person, latest[place] ?? newestOf(latest)),
                  search,
                  after: pageParam || null,
                  limit: ROWS,
                },
                signal,
              }),
            ),
          ),
        ),
      ),
    getNextPageParam: (page) => page.next,
    placeholderData: keepPreviousData,
    ...OF_NOW,
  });
}

/** Where the user's answers changed in an environment, on a day or lately. */
export function answerChangesQuery(path: EnvironmentPath, person: PersonSearch) {
  return readPages(`${EVALUATIONS}/changes`, path, { ...userOf(person), ...boundsOf(person.day), limit: RECORDS });
}

/** The flags whose results changed with an evaluation; none if it has no user. */
export function changedInQuery(path: EnvironmentPath, { id, user_id, user_email, evaluated_at: at }: Evaluation) {
  return queryOptions({
    queryKey: keyOf(`${EVALUATIONS}/changes`, path, id),
    queryFn: async ({ signal }) => {
      const until = new Date(Date.parse(at) + 1).toISOString();
      const user = { ...(user_id !== null && { user_id }), ...(user_email !== null && { user_email }) };
      const query = { ...user, until, limit: RECORDS };
      const { items } = await ask(client.GET(`${EVALUATIONS}/changes`, { params: { path, query }, signal }));
      return items.filter(({ after }) => after.evaluation_id === id);
    },
    enabled: user_id !== null || user_email !== null,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The user's evaluations in an environment, on a day or lately, without the results. */
export function recordsQuery(path: EnvironmentPath, person: PersonSearch) {
  const query = { ...userOf(person), ...boundsOf(person.day), answers: false, limit: RECORDS };
  return readPages(EVALUATIONS, path, query);
}

/** The user's events of metrics in an environment, on a day or lately. */
export function eventsQuery(path: EnvironmentPath, person: PersonSearch) {
  return readPages(EVENTS, path, { ...userOf(person), ...boundsOf(person.day), limit: RECORDS });
}
