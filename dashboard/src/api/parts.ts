/** Lists in parts, of which each links to the next one. */

import { infiniteQueryOptions, keepPreviousData } from "@tanstack/react-query";
import { cursorOf } from "../lib/cursors";
import { type Answer, ask } from "./problem";

const PART = { limit: 50 };

type Load<T> = (part: { limit: number; cursor?: string }, signal: AbortSignal) => Promise<Answer<T[]>>;

/** The query of such a list. While another search is loading, the previous one stays. */
export function partsQuery<T>(queryKey: readonly string[], load: Load<T>) {
  return infiniteQueryOptions({
    queryKey,
    initialPageParam: "",
    queryFn: async ({ pageParam, signal }) => {
      const answer = load({ ...PART, ...(pageParam && { cursor: pageParam }) }, signal);
      const items = await ask(answer);
      return { items, next: cursorOf((await answer).response.headers.get("link")) };
    },
    getNextPageParam: (part) => part.next,
    placeholderData: keepPreviousData,
  });
}
