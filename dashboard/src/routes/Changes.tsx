/** The audit trail of an environment: who changed what. */

import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import ChangePages from "../components/changes/ChangePages";
import { PeriodFilter } from "../components/changes/PeriodFilter";
import { AnchorLink } from "../components/shared/links";
import { Page } from "../components/shared/Page";
import { startOf } from "../lib/changePeriods";
import { toChangesSearch } from "../lib/changesSearch";
import { useHere } from "../lib/useHere";
import { changes as changeTexts } from "../texts/changes";
import { restore } from "../texts/restore";

const route = getRouteApi("/signed-in/projects/$projectId/environments/$environmentId/changes");

export function Changes() {
  const { path } = useHere();
  const search = toChangesSearch({ ...route.useSearch() });
  const navigate = route.useNavigate();
  const [now] = useState(() => Date.now());
  return (
    <Page
      title={changeTexts.heading}
      intro={changeTexts.intro}
      actions={
        <AnchorLink to="/projects/$projectId/audit" params={{ projectId: path.project_id }}>
          {restore.inProject}
        </AnchorLink>
      }
    >
      <PeriodFilter
        search={search}
        onChange={(next) => void navigate({ search: toChangesSearch({ ...next }), replace: true })}
      />
      <ChangePages path={path} since={startOf(search, now)} />
    </Page>
  );
}
