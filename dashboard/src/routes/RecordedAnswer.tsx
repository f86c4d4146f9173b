/** One evaluation as it was recorded: what a user got from each flag, and why. Its address can be shared. */

import { Button, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { type Evaluation, evaluationQuery } from "../api/history";
import { Problem } from "../api/problem";
import { ChangedSince } from "../components/people/ChangedSince";
import { OutcomeTable } from "../components/people/OutcomeTable";
import { RecordedSummary } from "../components/people/RecordedSummary";
import { CopyButton } from "../components/shared/CopyButton";
import { Empty } from "../components/shared/Empty";
import { IconHistory } from "../components/shared/icons";
import { ListSearch } from "../components/shared/ListSearch";
import { Page } from "../components/shared/Page";
import { RowsSkeleton } from "../components/shared/PageSkeleton";
import { LoadFailed } from "../components/shared/ProblemPage";
import { toPersonSearch } from "../lib/person";
import { useHere } from "../lib/hooks/useHere";
import { people as texts } from "../texts/people";

const route = getRouteApi("/signed-in/projects/$projectId/environments/$environmentId/evaluations/$evaluationId");
const SHOWN_AT_ONCE = 100;

export function RecordedAnswer() {
  const here = useHere();
  const { evaluationId } = route.useParams();
  const { data, error, refetch } = useQuery(evaluationQuery(here.path, evaluationId));
  return (
    <Page
      title={texts.recordHeading}
      intro={texts.recordIntro}
      actions={data && <CopyButton text={window.location.href} label={texts.copyLink} flex="none" />}
    >
      {error && !data && <Failed error={error} onRetry={() => void refetch()} />}
      {!error && !data && <RowsSkeleton />}
      {data && <Record evaluation={data} />}
    </Page>
  );
}

function Failed({ error, onRetry }: { error: Error; onRetry: () => void }) {
  if (error instanceof Problem && error.status === 404) {
    return <Empty icon={<IconHistory size={22} />} title={texts.gone} text={texts.goneText} />;
  }
  return <LoadFailed error={error} onRetry={onRetry} />;
}

function Record({ evaluation }: { evaluation: Evaluation }) {
  const { project, environment, path } = useHere();
  const { flag = "" } = toPersonSearch(route.useSearch());
  const navigate = route.useNavigate();
  const [most, setMost] = useState(SHOWN_AT_ONCE);
  const all = Object.entries(evaluation.flags);
  const found = all.filter(([key]) => key.includes(flag)).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return (
    <>
      <RecordedSummary project={project} environment={environment} evaluation={evaluation} flagKey={flag} />
      <ChangedSince path={path} evaluation={evaluation} search={flag} />
      <ListSearch
        label={texts.searchFlags}
        selected={flag}
        onChange={(typed) => void navigate({ search: toPersonSearch({ flag: typed }), replace: true })}
      />
      <OutcomeTable outcomes={found.slice(0, most)} caption={texts.results(Math.min(found.length, most), all.length)} />
      {found.length > most && (
        <Group justify="center" mt="md">
          <Button variant="default" onClick={() => setMost(most + SHOWN_AT_ONCE)}>
            {texts.more}
          </Button>
        </Group>
      )}
    </>
  );
}
