/** All evaluations of an environment, with user, time, results and reasons. */

import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { evaluationsOf } from "./historyCalls";
import { foundKeysQuery } from "../flags/projectFlagsCalls";
import { EvaluationPages } from "./EvaluationPages";
import { EvaluationRows } from "./EvaluationRows";
import { HistoryFilters } from "./HistoryFilters";
import { Page } from "../../ui/Page";
import { filterOf } from "./historyFilter";
import { useChartZone } from "../../ui/charts/chartZone";
import { toHistorySearch } from "../../ui/search";
import { useFlagOfKey } from "./useFlagOfKey";
import { useHere } from "../../ui/useHere";
import { useHistoryPages } from "./useHistoryPages";
import { historyPage } from "./historyPageTexts";
import { useUrlState } from "../../ui/useUrlState";

const route = getRouteApi("/signed-in/projects/$projectId/environments/$environmentId/history");

export function HistoryPage() {
  const here = useHere();
  const [search, onFilter] = useUrlState(route, toHistorySearch);
  const [live, setLive] = useState(false);
  const filter = filterOf(search, search.flag ?? "", useChartZone());
  const { data: flagKeys = [] } = useQuery(foundKeysQuery(here.project.id, filter.flagKey));
  const flag = useFlagOfKey(here.path, here.environment, filter.flagKey);
  const query = useHistoryPages(evaluationsOf(here.path, filter), live && filter.span === null);
  const items = query.data?.pages.flatMap((page) => page.items) ?? [];
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
