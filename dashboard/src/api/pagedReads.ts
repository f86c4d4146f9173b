/** Lists that are read in parts, on demand. */

import { infiniteQueryOptions, keepPreviousData } from "@tanstack/react-query";
import { cursorOf } from "./cursors";
import { keyOf } from "./queryKeys";
import { ask } from "./problem";
import { get, type Given, type Read, type Readable } from "./reads";

const PART = { limit: 50 };

/** A list whose parts link to the next one. While another search is loading, the previous one stays. */
export function readParts<P extends Readable>(path: P, ...[ids, query]: Given<P>) {
  return infiniteQueryOptions({
    queryKey: keyOf(path, ids, "parts", { ...query }),
    initialPageParam: "",
    queryFn: async ({ pageParam, signal }) => {
      const answer = get(path, ids, { ...PART, ...query, ...(pageParam && { cursor: pageParam }) }, signal);
      const items = await ask(answer);
      return { items, next: cursorOf((await answer).response.headers.get("link")) };
    },
    getNextPageParam: (part) => part.next,
    placeholderData: keepPreviousData,
  });
}

/** The operations whose results are pages with the cursor of the next one. */
type Paged = { [P in Readable]: Read<P> extends { next_cursor: string | null } ? P : never }[Readable];

/** The pages of such an operation. */
export function readPages<P extends Paged>(path: P, ...[ids, query]: Given<P>) {
  return infiniteQueryOptions({
    queryKey: keyOf(path, ids, "pages", { ...query }),
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) =>
      ask(get(path, ids, { ...PART, ...query, ...(pageParam && { cursor: pageParam }) }, signal)),
    getNextPageParam: cursorIn as (page: Read<P>) => string | null,
  });
}

function cursorIn({ next_cursor: next }: { readonly next_cursor: string | null }): string | null {
  return next;
}
