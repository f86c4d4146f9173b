/** All flags of an environment. */

import { Button, Text, VisuallyHidden } from "@mantine/core";
import { IconFunnelOff, IconFlag, IconPlus } from "../components/shared/icons";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense, useCallback, useDeferredValue, useMemo, useRef, useState } from "react";
import { flagsQuery, useSwitchFlag } from "../api/flags";
import { summaryQuery } from "../api/history";
import { rulesByFlagQuery } from "../api/rules";
import { Empty } from "../components/shared/Empty";
import { FlagFilters } from "../components/flags/FlagFilters";
import { FlagTable } from "../components/flags/FlagTable";
import { GuardedButton } from "../components/shared/GuardedButton";
import { ManagementCall } from "../components/shared/ManagementCall";
import { lateDialog } from "../components/shared/lateDialog";
import { AnchorLink } from "../components/shared/links";
import { Page } from "../components/shared/Page";
import { RowsSkeleton } from "../components/shared/PageSkeleton";
import { LoadFailed } from "../components/shared/ProblemPage";
import { type FlagRow, rowsOf, selectRows } from "../lib/flagRows";
import { notifyRefused } from "../lib/notify";
import { type FlagsSearch, toFlagsSearch } from "../lib/search";
import { createFlagCommand } from "../lib/snippets";
import { useDialog } from "../lib/useDialog";
import { useGuard } from "../lib/useGuard";
import { useHere } from "../lib/useHere";
import { t } from "../texts";

const FirstSteps = lazy(() => import("../components/flags/FirstSteps"));
const NewFlagDialog = lateDialog(() =>
  import("../components/flags/NewFlagDialog").then((module) => module.NewFlagDialog),
);

const FEW = 5;

const route = getRouteApi("/signed-in/projects/$projectId/environments/$environmentId/");

export function Flags() {
  const { project, environment, path } = useHere();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const input = useRef<HTMLInputElement>(null);
  const creation = useDialog();
  const { data: flags, error, refetch } = useQuery(flagsQuery(path));
  const { data: rules } = useQuery(rulesByFlagQuery(path));
  const { data: summary } = useQuery({
    ...summaryQuery(path, "day", { flags: flags?.length ?? 0 }),
    enabled: flags !== undefined,
  });
  const rows = useMemo(() => rowsOf(flags ?? [], rules, summary), [flags, rules, summary]);
  const wanted = useDeferredValue(search);
  const found = useMemo(() => selectRows(rows, wanted), [rows, wanted]);
  const { mutate } = useSwitchFlag(path, ({ flag, enabled }, refusal) =>
    notifyRefused(t.flags.notSwitched(flag.name, enabled), refusal),
  );
  const { reason } = useGuard({ needs: "flags:write" });
  const onSwitch = useCallback(
    ({ flag }: FlagRow, enabled: boolean) => {
      if (reason === null) mutate({ flag, enabled });
    },
    [mutate, reason],
  );
  const onFilter = useCallback(
    (next: FlagsSearch) => void navigate({ search: toFlagsSearch({ ...next }), replace: true }),
    [navigate],
  );
  const clear = () => {
    onFilter({});
    input.current?.focus(); // the pressed button is about to disappear
  };
  const create = (
    <GuardedButton needs="flags:write" leftSection={<IconPlus size={16} />} onClick={creation.open} flex="none">
      {t.flags.new}
    </GuardedButton>
  );
  const isEmpty = flags?.length === 0;
  // Once shown, the first steps stay while they are done.
  const [isNew, setNew] = useState(false);
  if (!isNew && flags && flags.length <= FEW && summary && Object.keys(summary.flags).length === 0) setNew(true);
  return (
    <Page
      title={t.flags.heading}
      intro={flags && !isEmpty && <span role="status">{t.flags.count(found.length, flags.length)}</span>}
      actions={isEmpty ? null : create}
    >
      {error && !flags && <LoadFailed error={error} onRetry={refetch} />}
      {!flags && !error && <RowsSkeleton rows={9} height={52} />}
      {isNew && flags && (
        <Suspense fallback={null}>
          <FirstSteps key={environment.id} path={path} environment={environment} flags={flags} />
        </Suspense>
      )}
      {isEmpty && (
        <Empty icon={<IconFlag size={22} />} title={t.flags.emptyHeading(environment.name)} text={t.flags.emptyText}>
          {create}
          <ManagementCall
            label={t.flags.emptyText}
            command={(token) => createFlagCommand(window.location.origin, project.id, environment.id, token)}
          />
        </Empty>
      )}
      {flags && !isEmpty && (
        <>
          <FlagFilters search={search} onChange={onFilter} onClear={clear} input={input} />
          {found.length > 0 ? (
            <FlagTable rows={found} search={input} onSwitch={onSwitch} />
          ) : (
            <Empty icon={<IconFunnelOff size={22} />} title={t.flags.noMatch} text={t.flags.noMatchText}>
              <Button variant="default" onClick={clear}>
                {t.clearFilters}
              </Button>
            </Empty>
          )}
          <Text size="xs" c="dimmed" mt="md" visibleFrom="sm">
            {t.flags.keys}
          </Text>
          <VisuallyHidden>{t.flags.keys}</VisuallyHidden>
        </>
      )}
      <Text size="sm" mt="md">
        <AnchorLink
          to="/projects/$projectId/environments/$environmentId/archived"
          params={{ projectId: project.id, environmentId: environment.id }}
        >
          {t.flags.archived}
        </AnchorLink>
        {" · "}
        <AnchorLink
          to="/projects/$projectId/environments/$environmentId/cleanup"
          params={{ projectId: project.id, environmentId: environment.id }}
        >
          {t.flags.cleanup}
        </AnchorLink>
        {" · "}
        <AnchorLink to="/projects/$projectId/flags" params={{ projectId: project.id }}>
          {t.flags.everywhere}
        </AnchorLink>
        {" · "}
        <AnchorLink to="/projects/$projectId/playground" params={{ projectId: project.id }}>
          {t.flags.playground}
        </AnchorLink>
      </Text>
      <NewFlagDialog path={path} {...creation.props} />
    </Page>
  );
}
