/** The flags of an environment that may be removed from the code. */

import { Alert, Checkbox, Group, Select, Text } from "@mantine/core";
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { type Candidate, CLEANUP, cleanupQuery, type Wanted } from "./cleanupCalls";
import { permissionsQuery } from "../../api/members";
import { CandidateRow } from "./CandidateRow";
import classes from "./Candidates.module.css";
import bar from "../copying/Differences.module.css";
import { ArchiveDialog } from "../archive/ArchiveDialog";
import { CopyButton } from "../../ui/CopyButton";
import { Empty } from "../../ui/Empty";
import { IconCheck } from "../../ui/icons";
import { Page } from "../../ui/Page";
import { Pages } from "../../ui/Pages";
import { Locked } from "../../ui/ProblemPage";
import { type Evidence, PERIODS, pullRequestText, REASONS, wantedOf } from "./cleanup";
import { reasonAgainst } from "../../ui/roles";
import { dateOf } from "../../ui/time";
import { useEnvironments, useHere } from "../../ui/useHere";
import { problemsTexts } from "../../api/problemsTexts";
import { cleanup as texts } from "./cleanupTexts";
import { allOf, outdate } from "../../api/queryKeys";
import { useUrlState } from "../../ui/useUrlState";

const route = getRouteApi("/signed-in/projects/$projectId/environments/$environmentId/cleanup");

export function CleanupPage() {
  const { project, environment } = useHere();
  const [wanted, choose] = useUrlState(route, wantedOf);
  const { data: own } = useQuery(permissionsQuery(project.id));
  const refusal = reasonAgainst(own, "evaluations:read", environment);
  if (refusal !== null) {
    return (
      <Page title={texts.heading}>
        <Locked title={problemsTexts.forbidden}>{refusal}</Locked>
      </Page>
    );
  }
  return (
    <Page title={texts.heading} intro={texts.intro}>
      <Group align="end" gap="sm" mb="lg">
        <Select
          label={texts.period}
          data={PERIODS.map((days) => ({ value: String(days), label: texts.days(days) }))}
          value={String(wanted.days)}
          allowDeselect={false}
          onChange={(days) => choose({ ...wanted, days: Number(days) })}
        />
        <Select
          label={texts.reason}
          data={[
            { value: "", label: texts.anyReason },
            ...REASONS.map((reason) => ({ value: reason, label: texts.reasons[reason] })),
          ]}
          value={wanted.reason ?? ""}
          allowDeselect={false}
          onChange={(reason) => choose({ ...wanted, reason: REASONS.find((each) => each === reason) ?? null })}
        />
        <Checkbox
          label={texts.kept}
          checked={wanted.kept}
          onChange={(event) => choose({ ...wanted, kept: event.currentTarget.checked })}
          mb={8}
        />
      </Group>
      <Candidates key={`${environment.id} ${Object.values(wanted).join(" ")}`} wanted={wanted} />
    </Page>
  );
}

function Candidates({ wanted }: { wanted: Wanted }) {
  const { environment, path } = useHere();
  const environments = useEnvironments();
  const cache = useQueryClient();
  const query = useInfiniteQuery(cleanupQuery(path, wanted));
  const candidates = useMemo(() => query.data?.pages.flatMap((page) => page.candidates) ?? [], [query.data]);
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  const [archived, setArchived] = useState<Candidate | null>(null);
  const [isArchiving, setArchiving] = useState(false);
  const part = query.data?.pages[0];
  const evidence: Evidence = {
    days: wanted.days,
    since: part?.since ?? "",
    historySince: part?.history_since ?? null,
    until: new Date(query.dataUpdatedAt).toISOString(),
    hiddenEnvironments: part?.hidden_environments ?? 0,
    environment,
    environments,
  };
  // A flag that is no longer a candidate is not in the list.
  const chosen = candidates.filter((each) => ticked.has(each.id));
  const tick = (id: string, isTicked: boolean) =>
    setTicked(new Set([...chosen.map((each) => each.id).filter((each) => each !== id), ...(isTicked ? [id] : [])]));
  return (
    <>
      {evidence.historySince !== null && (
        <Alert color="yellow" mb="md">
          {texts.shortHistory(dateOf(evidence.historySince))}
        </Alert>
      )}
      <Pages
        query={query}
        count={candidates.length}
        more={texts.more}
        empty={<Empty icon={<IconCheck size={22} />} title={texts.emptyHeading} text={texts.emptyText} />}
      >
        <ul className={classes.list} aria-label={texts.heading}>
          {candidates.map((each) => (
            <CandidateRow
              key={each.id}
              path={path}
              candidate={each}
              evidence={evidence}
              chosen={ticked.has(each.id)}
              onChoose={(isTicked) => tick(each.id, isTicked)}
              onArchive={() => {
                setArchived(each);
                setArchiving(true);
              }}
            />
          ))}
        </ul>
        {chosen.length > 0 && (
          <div className={bar.bar}>
            <Text role="status">{texts.chosen(chosen.length)}</Text>
            <CopyButton text={pullRequestText(chosen, evidence)} label={texts.copyText} size="sm" />
          </div>
        )}
      </Pages>
      {archived && (
        <ArchiveDialog
          path={{ ...path, flag_id: archived.id }}
          flag={archived}
          opened={isArchiving}
          onClose={() => setArchiving(false)}
          onArchived={() => outdate(cache, ...allOf([CLEANUP], path))}
        />
      )}
    </>
  );
}
