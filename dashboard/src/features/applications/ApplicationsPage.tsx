/** The callers of flags, the applications that evaluate flags themselves, and the flags that are requested. */

import { apiReturnsMore } from "../../ui/commonTexts";
import { Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense, useMemo } from "react";
import { REFRESH_MILLISECONDS, reportsQuery, usageQuery } from "./applicationsCalls";
import { callersQuery } from "../credentials/callersCalls";
import { useOutage } from "../../api/outage";
import { type Connection, connectionsQuery } from "./connectionsCalls";
import { permissionsQuery } from "../../api/members";
import { Callers } from "./Callers";
import { Empty } from "../../ui/Empty";
import { IconGroup } from "../../ui/icons";
import { Page } from "../../ui/Page";
import { RowsSkeleton } from "../../ui/PageSkeleton";
import { LoadFailed, Locked } from "../../ui/ProblemPage";
import { Sheet } from "../../ui/DataTable";
import { When } from "../../ui/When";
import { reasonAgainst } from "../../ui/roles";
import { useHere } from "../../ui/useHere";
import { problemsTexts } from "../../api/problemsTexts";
import { applications as texts } from "./applicationsTexts";
import { callers as callerTexts } from "../credentials/callersTexts";
import { outage as outageTexts } from "../../ui/outageTexts";

const RequestMetrics = lazy(() => import("../requestMetrics/RequestMetrics"));
const UNASKED_SHOWN = 500;

export function ApplicationsPage() {
  const { project, environment } = useHere();
  const { data: own } = useQuery(permissionsQuery(project.id));
  const reason = reasonAgainst(own, "evaluations:read", environment);
  return (
    <Page title={texts.heading} intro={texts.intro}>
      {reason === null ? <Contents /> : <Locked title={problemsTexts.forbidden}>{reason}</Locked>}
    </Page>
  );
}

function Contents() {
  const { path } = useHere();
  const { project_id, env_id } = path;
  const outage = useOutage();
  const connected = useMemo(() => connectionsQuery({ project_id, env_id }, REFRESH_MILLISECONDS), [project_id, env_id]);
  const instances = useQuery(connected);
  const reports = useQuery(reportsQuery(path));
  const usage = useQuery(usageQuery(path));
  const callers = useQuery(callersQuery(path));
  const failed = [instances, reports, usage, callers].find(({ data, error }) => error && !data);
  if (failed?.error) return <LoadFailed error={failed.error} onRetry={failed.refetch} />;
  if (!instances.data || !reports.data || !usage.data || !callers.data) return <RowsSkeleton rows={4} height={64} />;
  const { current, total, connections } = instances.data;
  const isLocal = total > 0 || reports.data.flags.length > 0;
  const isQuiet = !isLocal && callers.data.length === 0;
  return (
    <Stack gap="xl">
      {isQuiet ? (
        <Empty icon={<IconGroup size={22} />} title={texts.emptyHeading} text={texts.emptyText} />
      ) : (
        <Part title={callerTexts.heading} intro={callerTexts.intro} without={callerTexts.none}>
          {callers.data.length > 0 && <Callers projectId={project_id} callers={callers.data} />}
        </Part>
      )}
      {isLocal && (
        <>
          <Part title={texts.instances} intro={outage ? outageTexts.unknown : texts.instancesIntro(current, total)}>
            {total > 0 && <SdkInstances connections={connections} now={instances.dataUpdatedAt} />}
          </Part>
          <Part title={texts.reports} intro={texts.reportsIntro(reports.data.dropped)} without={texts.noReports}>
            {reports.data.flags.length > 0 && (
              <Sheet
                label={texts.reports}
                columns={[
                  { head: texts.flag, cell: (each) => <code>{each.flag_key}</code> },
                  { head: texts.application, cell: ({ application }) => application },
                  { head: texts.yes, cell: ({ yes }) => yes.toLocaleString("en") },
                  { head: texts.no, cell: ({ no }) => no.toLocaleString("en") },
                  { head: texts.reported, cell: (each) => <When at={each.reported_at} /> },
                ]}
                rows={reports.data.flags}
                keyOf={(each) => `${each.flag_key} ${each.application} ${each.sdk}`}
              />
            )}
          </Part>
        </>
      )}
      <Suspense>
        <RequestMetrics path={path} />
      </Suspense>
      <Part title={texts.missing} intro={texts.missingIntro} without={texts.noMissing}>
        {usage.data.missing.length > 0 && (
          <Sheet
            label={texts.missing}
            columns={[
              {
                head: texts.flag,
                cell: ({ key, archived }) => (
                  <span>
                    <code>{key}</code>
                    {archived && texts.archived}
                  </span>
                ),
              },
              {
                head: texts.askedBy,
                cell: ({ asked_by: by }) =>
                  Object.entries(by)
                    .map(([name, count]) => texts.times(name || texts.evaluatedHere, count))
                    .join("; "),
              },
              { head: texts.asked, cell: ({ asked_at: at }) => <When at={at} /> },
            ]}
            rows={usage.data.missing}
            keyOf={({ key }) => key}
          />
        )}
      </Part>
      <Part title={texts.unasked} intro={texts.unaskedIntro} without={texts.noUnasked}>
        {usage.data.unasked.length > 0 && (
          <Text className="break">
            {usage.data.unasked.slice(0, UNASKED_SHOWN).map((key, place) => (
              <span key={key}>
                {place > 0 && ", "}
                <code>{key}</code>
              </span>
            ))}
            {usage.data.unasked.length > UNASKED_SHOWN &&
              `. ${apiReturnsMore(usage.data.unasked.length - UNASKED_SHOWN)}`}
          </Text>
        )}
      </Part>
    </Stack>
  );
}

function SdkInstances({ connections, now }: { connections: readonly Connection[]; now: number }) {
  return (
    <Sheet
      label={texts.instances}
      columns={[
        { head: texts.application, cell: ({ application }) => application },
        { head: texts.instance, cell: ({ instance, connection }) => instance || connection },
        { head: texts.sdk, cell: ({ sdk }) => sdk },
        { head: texts.state, cell: (each) => stateOf(each, now) },
        { head: texts.seen, cell: (each) => <When at={each.seen_at} /> },
      ]}
      rows={connections}
      keyOf={(each) => `${each.application} ${each.connection}`}
    />
  );
}

function stateOf({ is_current: isCurrent, revision, streams, due_at: due }: Connection, now: number): string {
  const state = isCurrent ? texts.current : texts.late(revision);
  if (streams) return `${state}, ${texts.streams}`;
  const seconds = due === null ? 0 : Math.ceil((Date.parse(due) - now) / 1000);
  return seconds > 0 ? `${state}, ${texts.due(seconds)}` : state;
}

interface PartProps {
  readonly title: string;
  readonly intro: string;
  /** The text if there is nothing to show. */
  readonly without?: string;
  readonly children: ReactNode;
}

function Part({ title, intro, without, children }: PartProps) {
  return (
    <div>
      <Title order={2}>{title}</Title>
      <Text c="dimmed" size="sm" mb="sm">
        {intro}
      </Text>
      {children === false ? <Text>{without}</Text> : children}
    </div>
  );
}
