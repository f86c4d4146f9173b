/** What one flag answered, and why. */

import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { flagEvaluationsQuery, LIVE_MILLISECONDS } from "../api/history";
import type { FlagPlace } from "../lib/flagPlace";
import { filterOf } from "../lib/historyFilter";
import { type HistorySearch, toFlagPage, toHistorySearch } from "../lib/search";
import { evaluateSnippet } from "../lib/snippets";
import { t } from "../texts";
import { CodeBlock } from "./CodeBlock";
import { Empty } from "./Empty";
import { FlagEvaluationRows } from "./EvaluationRows";
import { HistoryChart } from "./HistoryChart";
import { HistoryFilters } from "./HistoryFilters";
import { IconFunnelOff, IconHistory } from "./icons";
import { Pages } from "./Pages";

const route = getRouteApi("/signed-in/projects/$projectId/environments/$environmentId/flags/$flagId");

export function FlagHistory({ project, environment, path, flag, search }: FlagPlace & { search: HistorySearch }) {
  const navigate = route.useNavigate();
  const [live, setLive] = useState(false);
  const filter = filterOf(search, "");
  const query = useInfiniteQuery({
    ...flagEvaluationsQuery(path, filter),
    refetchInterval: live ? LIVE_MILLISECONDS : false,
  });
  const items = query.data?.pages.flatMap((page) => page.items) ?? [];
  const onFilter = (next: HistorySearch) =>
    void navigate({ search: toFlagPage({ ...next, tab: "history" }), replace: true });
  const isFiltered = Object.keys(toHistorySearch({ ...search })).length > 0;
  const target = {
    origin: window.location.origin,
    sdkKey: project.sdk_key,
    environment: environment.key,
    flagKey: flag.key,
  };
  return (
    <>
      <HistoryFilters search={search} onChange={onFilter} live={live} onLive={setLive} />
      {items.length > 0 && <HistoryChart path={path} period={filter.period} flagKey={flag.key} />}
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
        <FlagEvaluationRows items={items} />
      </Pages>
    </>
  );
}
