/** Every evaluation of an environment: who, when, what and why. */

import { IconFunnelOff, IconHistory } from "../components/icons";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { flagsQuery } from "../api/flags";
import { evaluationsQuery, LIVE_MILLISECONDS } from "../api/history";
import { CodeBlock } from "../components/CodeBlock";
import { Empty } from "../components/Empty";
import { EvaluationRows } from "../components/EvaluationRows";
import { HistoryChart } from "../components/HistoryChart";
import { HistoryFilters } from "../components/HistoryFilters";
import { Page } from "../components/Page";
import { Pages } from "../components/Pages";
import { filterOf } from "../lib/historyFilter";
import { type HistorySearch, toHistorySearch } from "../lib/search";
import { evaluateSnippet } from "../lib/snippets";
import { useHere } from "../lib/useHere";
import { t } from "../texts";

const route = getRouteApi("/signed-in/projects/$projectId/environments/$environmentId/history");

export function History() {
  const { project, environment, path } = useHere();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [live, setLive] = useState(false);
  const { data: flags } = useQuery(flagsQuery(path));
  const filter = filterOf(search, search.flag ?? "");
  const query = useInfiniteQuery({
    ...evaluationsQuery(path, filter),
    refetchInterval: live ? LIVE_MILLISECONDS : false,
  });
  const items = query.data?.pages.flatMap((page) => page.items) ?? [];
  const isFiltered = Object.keys(search).length > 0;
  const onFilter = (next: HistorySearch) => void navigate({ search: toHistorySearch({ ...next }), replace: true });
  const target = { origin: window.location.origin, sdkKey: project.sdk_key, environment: environment.key, flagKey: "" };
  return (
    <Page title={t.history.heading} intro={t.history.intro}>
      <HistoryFilters
        search={search}
        onChange={onFilter}
        live={live}
        onLive={setLive}
        flagKeys={flags?.map((flag) => flag.key) ?? []}
      />
      {items.length > 0 && <HistoryChart path={path} period={filter.period} flagKey={filter.flagKey} />}
      <Pages
        query={query}
        count={items.length}
        empty={
          isFiltered ? (
            <Empty icon={<IconFunnelOff size={22} />} title={t.history.noMatch} text={t.history.noMatchText} />
          ) : (
            <Empty icon={<IconHistory size={22} />} title={t.history.emptyHeading} text={t.history.emptyText}>
              <CodeBlock code={evaluateSnippet("curl", target)} label={t.history.emptyText} />
            </Empty>
          )
        }
      >
        <EvaluationRows items={items} flagKey={filter.flagKey} />
      </Pages>
    </Page>
  );
}
