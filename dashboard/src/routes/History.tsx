/** All evaluations of an environment, with user, time, results and reasons. */

import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { evaluationsOf } from "../api/history";
import { foundKeysQuery } from "../api/projectFlags";
import { EvaluationPages } from "../components/history/EvaluationPages";
import { EvaluationRows } from "../components/history/EvaluationRows";
import { HistoryFilters } from "../components/history/HistoryFilters";
import { Page } from "../components/shared/Page";
import { filterOf } from "../components/history/historyFilter";
import { useChartZone } from "../lib/charts/chartZone";
import { type HistorySearch, toHistorySearch } from "../lib/search";
import { useFlagOfKey } from "../components/history/useFlagOfKey";
import { useHere } from "../lib/hooks/useHere";
import { useHistoryPages } from "../components/history/useHistoryPages";
import { historyPage } from "../texts/historyPage";

const route = getRouteApi("/signed-in/projects/$projectId/environments/$environmentId/history");

export function History() {
  const here = useHere();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [live, setLive] = useState(false);
  const filter = filterOf(search, search.flag ?? "", useChartZone());
  const { data: flagKeys = [] } = useQuery(foundKeysQuery(here.project.id, filter.flagKey));
  const flag = useFlagOfKey(here.path, here.environment, filter.flagKey);
  const query = useHistoryPages(evaluationsOf(here.path, filter), live && filter.span === null);
  const items = query.data?.pages.flatMap((page) => page.items) ?? [];
  const onFilter = (next: HistorySearch) => void navigate({ search: toHistorySearch({ ...next }), replace: true });
  return (
    <Page title={historyPage.heading} intro={historyPage.intro}>
      <HistoryFilters
        path={here.path}
        search={search}
        onChange={onFilter}
        live={live}
        onLive={setLive}
        flagKeys={flagKeys}
        flag={flag}
      />
      <EvaluationPages
        here={here}
        search={search}
        onChange={onFilter}
        filter={filter}
        flagKey={filter.flagKey}
        flag={flag}
        isFiltered={Object.keys(search).length > 0}
        onClear={() => onFilter({})}
        query={query}
        count={items.length}
      >
        <EvaluationRows path={here.path} items={items} flagKey={filter.flagKey} />
      </EvaluationPages>
    </Page>
  );
}
