/** The changes of a whole project, and their export as a file. */

import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { allChangesQuery, exportChanges } from "../../api/changes";
import { ChangesScope } from "./ChangesScope";
import { ChangesView } from "./ChangesView";
import { Page } from "../../ui/Page";
import { queryOf, toChangesSearch } from "../../api/changesFilter";
import { download } from "../../ui/download";
import { lastEnvironment } from "../../ui/lastEnvironment";
import { notifyRefused } from "../../api/notify";
import { useEnvironments, useProject } from "../../ui/useHere";
import { changesPage as texts } from "./changesPageTexts";
import { useUrlState } from "../../ui/useUrlState";

const route = getRouteApi("/signed-in/projects/$projectId/audit");
const KEYS_ARE_NAMES: ReadonlyMap<string, string> = new Map();

export function AuditPage() {
  const project = useProject();
  const environments = useEnvironments();
  const [search, onSearch] = useUrlState(route, toChangesSearch);
  const [now] = useState(() => Date.now());
  const wanted = queryOf(search, now);
  const file = useMutation({
    mutationFn: () => exportChanges(project.id, wanted),
    onSuccess: (content) => download(content, texts.fileName),
    onError: (error) => notifyRefused(texts.notExported, error),
  });
  const last = lastEnvironment(project.id);
  const environment =
    environments.find(({ key }) => key === search.environment) ??
    environments.find(({ id }) => id === last) ??
    environments[0];
  return (
    <Page
      title={texts.heading}
      intro={texts.ofProject}
      actions={<ChangesScope projectId={project.id} environment={environment} search={search} />}
    >
      <ChangesView
        changes={allChangesQuery(project.id, wanted)}
        flagNames={KEYS_ARE_NAMES}
        projectId={project.id}
        environments={environments}
        search={search}
        onSearch={onSearch}
        actions={
          <Button variant="default" size="compact-sm" ml="auto" loading={file.isPending} onClick={() => file.mutate()}>
            {texts.exportCsv}
          </Button>
        }
      />
    </Page>
  );
}
