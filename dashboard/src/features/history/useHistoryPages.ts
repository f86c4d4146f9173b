/** The pages of an evaluation history, which can be followed: then only what is new is asked for. */

import { type InfiniteData, keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import type { Evaluation, FlagEvaluation, Source } from "./historyCalls";
import { MOST_NEW, type PageOf, sinceNewest, withNewest } from "./followed";

const PAGE = 50;
const LIVE_MILLISECONDS = 2_000;

export function useHistoryPages<E extends Evaluation | FlagEvaluation>(
  { key, load }: Source<PageOf<E>>,
  isFollowed: boolean,
) {
  type Pages = InfiniteData<PageOf<E>, string>;
  const cache = useQueryClient();
  const query = useInfiniteQuery({
    queryKey: key,
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) => load({ limit: PAGE, cursor: pageParam }, signal),
    getNextPageParam: (page: PageOf<E>) => page.next_cursor,
    placeholderData: keepPreviousData,
  });
  const { refetch } = query;

  async function catchUp(signal: AbortSignal): Promise<void> {
    const newest = cache.getQueryData<Pages>(key)?.pages[0]?.items[0];
    if (!newest) {
      await refetch({ cancelRefetch: false });
      return;
    }
    const { items } = await load({ limit: MOST_NEW, since: sinceNewest(newest) }, signal);
    const known = cache.getQueryData<Pages>(key);
    if (!known) return;
    const pages = withNewest(known.pages, items);
    if (pages) {
      cache.setQueryData<Pages>(key, { ...known, pages: [...pages] });
    } else {
      cache.setQueryData<Pages>(key, { pages: [await load({ limit: MOST_NEW }, signal)], pageParams: [""] });
    }
  }

  useQuery({
    queryKey: [...key, "followed"],
    queryFn: ({ signal }) => catchUp(signal).then(() => null),
    enabled: isFollowed,
    refetchInterval: LIVE_MILLISECONDS,
    staleTime: 0,
    gcTime: 0,
  });
  return query;
}
