/** One evaluation as it was recorded: what a user got from each flag, and why. Its address can be shared. */

import { Button, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { type Evaluation, evaluationQuery } from "../history/historyCalls";
import { Problem } from "../../api/problem";
import { ChangedSince } from "./ChangedSince";
import { OutcomeTable } from "./OutcomeTable";
import { RecordedSummary } from "./RecordedSummary";
import { CopyButton } from "../../ui/CopyButton";
import { Empty } from "../../ui/Empty";
import { IconHistory } from "../../ui/icons";
import { ListSearch } from "../../ui/ListSearch";
import { Page } from "../../ui/Page";
import { RowsSkeleton } from "../../ui/PageSkeleton";
import { LoadFailed } from "../../ui/ProblemPage";
import { toPersonSearch } from "./person";
import { useHere } from "../../ui/useHere";
import { people as texts } from "./peopleTexts";
import { useUrlState } from "../../ui/useUrlState";

const route = getRouteApi("/signed-in/projects/$projectId/environments/$environmentId/evaluations/$evaluationId");
const SHOWN_AT_ONCE = 100;

export function RecordedAnswerPage() {
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
  const [{ flag = "" }, search] = useUrlState(route, toPersonSearch);
  const [most, setMost] = useState(SHOWN_AT_ONCE);
  const all = Object.entries(evaluation.flags);
  const found = all.filter(([key]) => key.includes(flag)).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return (
    <>
      <RecordedSummary project={project} environment={environment} evaluation={evaluation} flagKey={flag} />
      <ChangedSince path={path} evaluation={evaluation} search={flag} />
      <ListSearch label={texts.searchFlags} selected={flag} onChange={(typed) => search({ flag: typed })} />
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
