/** The figures of an environment: traffic, releases, SDK instances, stale flags and the last change. */

import { Skeleton, Text } from "@mantine/core";
import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Change } from "../../api/changes";
import type { Environment } from "../../api/client";
import { type Connections, connectionsQuery } from "../applications/connectionsCalls";
import { type Summary, summaryQuery } from "../history/historyCalls";
import { permissionsQuery } from "../../api/members";
import { staleFlagsQuery } from "./overviewCalls";
import { openReleasesQuery, type Release } from "../releases/releasesCalls";
import { flagNamesIn } from "../audit/changeSentences";
import { ENVIRONMENT } from "../../ui/pages";
import { reasonAgainst } from "../../ui/roles";
import { barsOf, inTotal } from "../history/series";
import { overview as texts } from "./overviewTexts";
import { Spark } from "../flagList/Spark";
import { AnchorLink } from "../../ui/links";
import classes from "./Overview.module.css";
import { ChangeInWords } from "./RecentChanges";

interface Props {
  readonly projectId: string;
  readonly environment: Environment;
  readonly changes: readonly Change[] | undefined;
}

export function EnvironmentActivity({ projectId, environment, changes }: Props) {
  const path = { project_id: projectId, env_id: environment.id };
  const { data: own } = useQuery(permissionsQuery(projectId));
  const refusal = reasonAgainst(own, "evaluations:read", environment);
  const enabled = refusal === null;
  const summary = useQuery({ ...summaryQuery(path, "day", { total: true }), enabled });
  const instances = useQuery({ ...connectionsQuery(path), enabled });
  const stale = useQuery({ ...staleFlagsQuery(path), enabled });
  const releases = useQuery(openReleasesQuery(path));
  const last = changes?.find((each) => each.environment_id === environment.id);
  const at = { projectId, environmentId: environment.id };
  return (
    <>
      <dl className={classes.facts}>
        {enabled && (
          <Fact page="history" name={texts.traffic} at={at} query={summary}>
            {(data) => <Traffic summary={data} />}
          </Fact>
        )}
        <Fact page="releases" name={texts.releases} at={at} query={releases}>
          {(data) => releasesInWords(data) || <Nothing>{texts.noReleases}</Nothing>}
        </Fact>
        {enabled && (
          <>
            <Fact page="applications" name={texts.instances} at={at} query={instances}>
              {(data) => <SdkInstances connections={data} />}
            </Fact>
            <Fact page="cleanup" name={texts.stale} at={at} query={stale}>
              {({ candidates, next_after: next }) => <Stale count={candidates.length} more={next !== null} />}
            </Fact>
          </>
        )}
        {changes && (
          <Fact page="changes" name={texts.changes} at={at}>
            {() =>
              last ? <ChangeInWords change={last} names={flagNamesIn(changes)} /> : <Nothing>{texts.noChanges}</Nothing>
            }
          </Fact>
        )}
      </dl>
      {refusal !== null && (
        <Text size="sm" c="dimmed" mt="xs">
          {refusal}
        </Text>
      )}
    </>
  );
}

interface FactProps<T> {
  readonly page: "history" | "releases" | "applications" | "cleanup" | "changes";
  readonly name: string;
  readonly at: { readonly projectId: string; readonly environmentId: string };
  readonly query?: Pick<UseQueryResult<T>, "data" | "isError">;
  readonly children: (data: T) => ReactNode;
}

/** Its name links to the page with more. */
function Fact<T>({ page, name, at, query, children }: FactProps<T>) {
  const isKnown = query === undefined || query.data !== undefined;
  return (
    <div className={classes.fact}>
      <dt>
        <AnchorLink to={`${ENVIRONMENT}/${page}`} params={at} size="sm">
          {name}
        </AnchorLink>
      </dt>
      <dd>
        {isKnown && children(query?.data as T)}
        {!isKnown && (query.isError ? <Nothing>{texts.failed}</Nothing> : <Skeleton h={18} maw={160} />)}
      </dd>
    </div>
  );
}

function Nothing({ children }: { children: ReactNode }) {
  return (
    <Text span size="sm" c="dimmed">
      {children}
    </Text>
  );
}

function Traffic({ summary }: { summary: Summary }) {
  const bars = barsOf(summary, inTotal(summary));
  const count = bars.reduce((sum, { on, off }) => sum + on + off, 0);
  if (count === 0) return <Nothing>{texts.noResults}</Nothing>;
  return (
    <span className={classes.traffic}>
      <Spark bars={bars} />
      <span className="numbers">{texts.results(count)}</span>
    </span>
  );
}

function SdkInstances({ connections: { current, total } }: { connections: Connections }) {
  if (total === 0) return <Nothing>{texts.noInstances}</Nothing>;
  if (current === total) return texts.current(total);
  return <span className={classes.behind}>{texts.behind(total - current, total)}</span>;
}

function Stale({ count, more }: { count: number; more: boolean }) {
  if (count > 0) return texts.staleFlags(count, more);
  return <Nothing>{more ? texts.staleUnknown : texts.noStale}</Nothing>;
}

function releasesInWords(releases: readonly Release[]): string {
  return Object.entries(texts.releasesIn)
    .map(([state, word]) => [releases.filter((each) => each.state === state).length, word] as const)
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${count} ${word}`)
    .join(", ");
}
