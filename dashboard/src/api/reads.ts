/** Reads of the API, as queries of the cache. */

import { queryOptions } from "@tanstack/react-query";
import type { ClientPathsWithMethod, MethodResponse } from "openapi-fetch";
import { client } from "./client";
import { keyOf } from "./queryKeys";
import { type Answer, ask } from "./problem";
import type { paths } from "./schema";

type Client = typeof client;
export type Readable = ClientPathsWithMethod<Client, "get">;
export type Read<P extends Readable> = MethodResponse<Client, "get", P>;
type Parameters<P extends Readable> = paths[P]["get"]["parameters"];
/** The ids in the path, if it has any, and the parameters of the query. */
export type Given<P extends Readable> =
  Parameters<P> extends { path: infer Ids }
    ? [ids: Readonly<Ids>, query?: Readonly<Parameters<P>["query"]>]
    : [ids?: Readonly<Record<string, never>>, query?: Readonly<Parameters<P>["query"]>];

/** A read of an operation; its result is known for as long as its ids and its query are the same. */
export function read<P extends Readable>(path: P, ...[ids, query]: Given<P>) {
  return queryOptions({
    queryKey: query === undefined ? keyOf(path, ids) : keyOf(path, ids, query),
    queryFn: ({ signal }) => ask(get(path, ids, query, signal)),
  });
}

/** Calls an operation whose parameters `Given` has checked: the client cannot infer them from a path that is a variable. */
export function get<P extends Readable>(
  path: P,
  ids: object | undefined,
  query: object | undefined,
  signal: AbortSignal,
): Promise<Answer<Read<P>>> {
  const call = client.GET as unknown as (path: P, init: object) => Promise<Answer<Read<P>>>;
  return call(path, { params: { path: ids, query }, signal });
}
