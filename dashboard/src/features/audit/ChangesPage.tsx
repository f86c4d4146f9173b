/** The changes of an environment, and of what it shares with the project's others: who changed what. */

import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { environmentChangesQuery } from "../../api/changes";
import { flagsQuery } from "../flags/flagsCalls";
import { ChangesScope } from "./ChangesScope";
import { ChangesView } from "./ChangesView";
import { Page } from "../../ui/Page";
import { queryOf, toChangesSearch } from "../../api/changesFilter";
import { useHere } from "../../ui/useHere";
import { changesPage as texts } from "./changesPageTexts";
import { useUrlState } from "../../ui/useUrlState";

const route = getRouteApi("/signed-in/projects/$projectId/environments/$environmentId/changes");

const toEnvironmentSearch = (raw: Readonly<Record<string, unknown>>) =>
  toChangesSearch({ ...raw, environment: undefined });

export function ChangesPage() {
  const { path, environment } = useHere();
  const [search, onSearch] = useUrlState(route, toEnvironmentSearch);
  const [now] = useState(() => Date.now());
  const { data: flags } = useQuery(flagsQuery(path));
  const flagNames = useMemo(() => new Map(flags?.map(({ id, name }) => [id, name])), [flags]);
  return (
    <Page
      title={texts.heading}
      intro={texts.ofEnvironment}
      actions={<ChangesScope projectId={path.project_id} environment={environment} search={search} />}
    >
      <ChangesView
        changes={environmentChangesQuery(path, queryOf(search, now))}
        flagNames={flagNames}
        projectId={path.project_id}
        environments={[]}
        search={search}
        onSearch={onSearch}
      />
    </Page>
  );
}
