/** The favourites in a list of flags, and marking them. */

import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import { favouritesQuery, useMarkFavourite } from "../views/favouritesCalls";
import { flagList as texts } from "../views/flagListTexts";
import type { FlagRow } from "./flagRows";
import { notifyRefused } from "../../api/notify";

export function useFavourites(projectId: string) {
  const { data } = useQuery(favouritesQuery(projectId));
  const { mutate } = useMarkFavourite(projectId, (key, error) => notifyRefused(texts.notFavourite(key), error));
  const onMark = useCallback(({ flag }: FlagRow, wanted: boolean) => mutate({ key: flag.key, wanted }), [mutate]);
  return { favourites: useMemo(() => new Set(data), [data]), onMark };
}
