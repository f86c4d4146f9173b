/** The results of one flag, with the reasons. */

import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { flagEvaluationsOf } from "./historyCalls";
import { useChartZone } from "../../ui/charts/chartZone";
import type { FlagPlace } from "../../api/flagPlace";
import { filterOf } from "./historyFilter";
import { type HistorySearch, toFlagPage, toHistorySearch } from "../../ui/search";
import { useHistoryPages } from "./useHistoryPages";
import { EvaluationPages } from "./EvaluationPages";
import { FlagEvaluationRows } from "./EvaluationRows";
import { HistoryFilters } from "./HistoryFilters";
import { useUrlState } from "../../ui/useUrlState";

const route = getRouteApi("/signed-in/projects/$projectId/environments/$environmentId/flags/$flagId");

export default function FlagHistory(place: FlagPlace) {
  const [search, change] = useUrlState(route, toFlagPage);
  const [live, setLive] = useState(false);
  const filter = filterOf(search, "", useChartZone());
  const query = useHistoryPages(flagEvaluationsOf(place.path, filter), live && filter.span === null);
  const items = query.data?.pages.flatMap((page) => page.items) ?? [];
  const onFilter = (next: HistorySearch) => change({ ...next, tab: "history" });
  return (
    <>
      <HistoryFilters
        path={place.path}
        search={search}
        onChange={onFilter}
        live={live}
        onLive={setLive}
        flag={place.flag}
      />
      <EvaluationPages
        here={place}
        search={search}
        onChange={onFilter}
        filter={filter}
        flagKey={place.flag.key}
        flag={place.flag}
        isFiltered={Object.keys(toHistorySearch({ ...search })).length > 0}
        onClear={() => onFilter({})}
        query={query}
        count={items.length}
      >
        <FlagEvaluationRows items={items} />
      </EvaluationPages>
    </>
  );
}
