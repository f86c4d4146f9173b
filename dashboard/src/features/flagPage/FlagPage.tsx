/** A flag: its switch, targeting, history, changes and example code. */

import { Tabs } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense } from "react";
import { flagQuery } from "../flags/flagsCalls";
import { rulesQuery } from "../flags/rulesCalls";
import { EnvironmentStrip } from "./EnvironmentStrip";
import { FlagHeading } from "./FlagHeading";
import { LoadedWhenNear } from "../../ui/LoadedWhenNear";
import { PageSkeleton, RowsSkeleton } from "../../ui/PageSkeleton";
import { Prerequisites } from "../flags/prerequisites/Prerequisites";
import { ProblemPage } from "../../ui/ProblemPage";
import { RuleList } from "../flags/targeting/RuleList";
import { Simulator } from "../explanations/Simulator";
import { Variants } from "../flags/variants/Variants";
import { isArchived } from "../../api/flagPlace";
import { rulesInForceOf } from "../../ui/conditions/audience";
import { changedAt } from "../../ui/changedAt";
import { useMadeKeys } from "../applications/madeKeys";
import { ARCHIVED_TABS, type Tab, TABS, toFlagPage } from "../../ui/search";
import { PartRefusal } from "../../ui/useGuard";
import { useEnvironments, useHere } from "../../ui/useHere";
import { flagTexts } from "../flags/flagsTexts";
import { archive } from "../archive/archiveTexts";
import classes from "./FlagPage.module.css";
import { useUrlState } from "../../ui/useUrlState";

const FlagReleases = lazy(() => import("../releases/FlagReleases"));
const FlagHistory = lazy(() => import("../history/FlagHistory"));
const FlagChanges = lazy(() => import("../audit/FlagChanges"));
const Comments = lazy(() => import("../comments/Comments"));
const FlagUse = lazy(() => import("../applications/FlagUse"));
const MoreOfFlag = lazy(() => import("./MoreOfFlag"));

const route = getRouteApi("/signed-in/projects/$projectId/environments/$environmentId/flags/$flagId");

export function FlagPage() {
  const { project, environment, path: environmentPath } = useHere();
  const environments = useEnvironments();
  const params = route.useParams();
  const path = { ...environmentPath, flag_id: params.flagId };
  const [search, change] = useUrlState(route, toFlagPage);
  const madeKeys = useMadeKeys();
  const { data: flag, error, refetch } = useQuery(flagQuery(path));
  const { data: rules } = useQuery(rulesQuery(path));
  if (!flag) return error ? <ProblemPage error={error} reset={() => void refetch()} /> : <PageSkeleton />;
  const place = { project, environment, path, flag };
  const isLive = !isArchived(flag);
  const tabs: readonly Tab[] = isLive ? TABS : ARCHIVED_TABS;
  const shown = tabs.find((tab) => tab === search.tab) ?? "overview";
  return (
    <FlagHeading {...place} rulesInForce={rules ? rulesInForceOf(rules) : null} changedAt={changedAt(flag, rules)}>
      {environments.length > 1 && (
        <div className={classes.environments}>
          <EnvironmentStrip {...place} tab={search.tab} />
        </div>
      )}
      <Tabs value={shown} onChange={(tab) => change(toFlagPage({ tab }))} keepMounted={false} color="signal">
        <Tabs.List mb="lg">
          {tabs.map((tab) => (
            <Tabs.Tab key={tab} value={tab}>
              {flagTexts[tab]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="overview">
          <div className={classes.overview}>
            <PartRefusal value={isLive ? null : archive.refusal}>
              <div className={classes.main}>
                <RuleList {...place} rules={rules} />
                <Variants {...place} rules={rules ?? []} />
                <Prerequisites {...place} rules={rules ?? []} />
                <LoadedWhenNear>
                  <MoreOfFlag {...place} />
                </LoadedWhenNear>
              </div>
            </PartRefusal>
            {isLive && <Simulator {...place} rules={rules} />}
          </div>
        </Tabs.Panel>
        <Panel tab="releases">
          <FlagReleases {...place} rules={rules ?? []} />
        </Panel>
        <Panel tab="history">
          <FlagHistory {...place} />
        </Panel>
        <Panel tab="changes">
          <FlagChanges path={path} flagId={params.flagId} />
        </Panel>
        <Panel tab="comments">
          <Comments place={{ kind: "flag", path }} order={2} />
        </Panel>
        <Panel tab="code">
          <FlagUse {...place} madeKeys={madeKeys} />
        </Panel>
      </Tabs>
    </FlagHeading>
  );
}

/** The content of a tab that is loaded when it is first opened. */
function Panel({ tab, children }: { tab: Tab; children: ReactNode }) {
  return (
    <Tabs.Panel value={tab}>
      <Suspense fallback={<RowsSkeleton />}>{children}</Suspense>
    </Tabs.Panel>
  );
}
