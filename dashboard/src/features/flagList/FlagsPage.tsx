/** All flags of an environment. */

import { Button, Text, VisuallyHidden } from "@mantine/core";
import { IconFunnelOff, IconFlag, IconPlus } from "../../ui/icons";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense, useCallback, useDeferredValue, useMemo, useRef, useState } from "react";
import type { Flag } from "../../api/client";
import { flagsQuery } from "../flags/flagsCalls";
import { useSwitch } from "../flags/switchingCalls";
import { summaryQuery } from "../history/historyCalls";
import { openReleasesQuery } from "../releases/releasesCalls";
import { rulesByFlagQuery } from "../flags/rulesCalls";
import { Empty } from "../../ui/Empty";
import { FlagFilters } from "./FlagFilters";
import { FlagTable } from "./FlagTable";
import { GuardedButton } from "../../ui/GuardedButton";
import { ManagementCall } from "../../ui/ManagementCall";
import { lateDialog } from "../../ui/lateDialog";
import { AnchorLink } from "../../ui/links";
import { Page } from "../../ui/Page";
import { RowsSkeleton } from "../../ui/PageSkeleton";
import { LoadFailed } from "../../ui/ProblemPage";
import { CHOSEN_MAX, withChoice } from "../../ui/withChoice";
import { type FlagRow, rowsOf, selectRows } from "./flagRows";
import { notifyRefused } from "../../api/notify";
import { toFlagsSearch } from "../../ui/search";
import { useSingleKeys } from "../../ui/singleKeys";
import { createFlagCommand } from "../../ui/snippets";
import { useFavourites } from "./useFavourites";
import { useDialog } from "../../ui/useDialog";
import { useGuard } from "../../ui/useGuard";
import { useHere } from "../../ui/useHere";
import { flagsTexts } from "../flags/flagsTexts";
import { common } from "../../ui/commonTexts";
import { serverAddress } from "../../api/server";
import { useUrlState } from "../../ui/useUrlState";

const SelectionBar = lazy(() => import("./SelectionBar"));
const FirstSteps = lazy(() => import("./FirstSteps"));
const NewFlagDialog = lateDialog(() => import("../flags/NewFlagDialog").then((module) => module.NewFlagDialog));

const FEW = 5;

const route = getRouteApi("/signed-in/projects/$projectId/environments/$environmentId/");

export function FlagsPage() {
  const { project, environment, path } = useHere();
  const [search, onFilter] = useUrlState(route, toFlagsSearch);
  const input = useRef<HTMLInputElement>(null);
  const hasKeys = useSingleKeys();
  const creation = useDialog();
  const { data: flags, error, refetch } = useQuery(flagsQuery(path));
  const { data: rules } = useQuery(rulesByFlagQuery(path));
  const { data: summary } = useQuery({
    ...summaryQuery(path, "day", { flags: flags?.length ?? 0 }),
    enabled: flags !== undefined,
  });
  const { data: open } = useQuery(openReleasesQuery(path));
  const releases = useMemo(() => new Map(open?.map((each) => [each.flag_id, each.state])), [open]);
  const rows = useMemo(() => rowsOf(flags ?? [], rules, summary), [flags, rules, summary]);
  const wanted = useDeferredValue(search);
  const { favourites, onMark } = useFavourites(project.id);
  const found = useMemo(() => selectRows(rows, wanted, favourites), [rows, wanted, favourites]);
  const [chosenIds, setChosen] = useState<ReadonlySet<string>>(new Set());
  const chosen = (flags ?? []).filter((flag) => chosenIds.has(flag.id));
  const turn = useSwitch(path, environment, ({ flag, enabled }, refusal) =>
    notifyRefused(flagsTexts.notSwitched(flag.name, enabled), refusal),
  );
  const { reason } = useGuard({ needs: "flags:write" });
  const onSwitch = useCallback(
    ({ flag }: FlagRow, enabled: boolean) => {
      if (reason === null) turn({ flag, enabled });
    },
    [turn, reason],
  );
  const onChoose = useCallback(
    ({ flag }: FlagRow, isWanted: boolean) => setChosen((now) => withChoice(now, flag.id, isWanted)),
    [],
  );
  const chooseAll = (all: readonly Flag[]) => setChosen(new Set(all.slice(0, CHOSEN_MAX).map((flag) => flag.id)));
  const onTag = useCallback((tag: string) => onFilter((now) => ({ ...now, tag })), [onFilter]);
  const on = useMemo(() => ({ onSwitch, onChoose, onMark, onTag }), [onSwitch, onChoose, onMark, onTag]);
  const clear = () => {
    onFilter({});
    input.current?.focus(); // the pressed button is about to disappear
  };
  const create = (
    <GuardedButton needs="flags:write" leftSection={<IconPlus size={16} />} onClick={creation.open} flex="none">
      {flagsTexts.new}
    </GuardedButton>
  );
  const isEmpty = flags?.length === 0;
  // Once shown, the first steps stay while they are done.
  const [isNew, setNew] = useState(false);
  if (!isNew && flags && flags.length <= FEW && summary && Object.keys(summary.flags).length === 0) setNew(true);
  return (
    <Page
      title={flagsTexts.heading}
      intro={flags && !isEmpty && <span role="status">{flagsTexts.count(found.length, flags.length)}</span>}
      actions={flags && !isEmpty ? create : null}
    >
      {error && !flags && <LoadFailed error={error} onRetry={refetch} />}
      {!flags && !error && <RowsSkeleton rows={14} height={36} />}
      {isNew && flags && (
        <Suspense fallback={null}>
          <FirstSteps key={environment.id} path={path} flags={flags} />
        </Suspense>
      )}
      {isEmpty && (
        <Empty
          icon={<IconFlag size={22} />}
          title={flagsTexts.emptyHeading(environment.name)}
          text={flagsTexts.emptyText}
        >
          {create}
          <ManagementCall
            label={flagsTexts.emptyText}
            command={(token) => createFlagCommand(serverAddress(), project.id, environment.id, token)}
          />
        </Empty>
      )}
      {flags && !isEmpty && (
        <>
          <FlagFilters
            search={search}
            onChange={onFilter}
            onClear={clear}
            projectId={project.id}
            input={input}
            tags={flags.flatMap((flag) => flag.tags)}
            owners={flags.flatMap((flag) => flag.owner ?? [])}
          />
          {found.length > 0 ? (
            <FlagTable
              rows={found}
              search={input}
              chosen={chosenIds}
              favourites={favourites}
              releases={releases}
              on={on}
            />
          ) : (
            <Empty icon={<IconFunnelOff size={22} />} title={flagsTexts.noMatch} text={flagsTexts.noMatchText}>
              <Button variant="default" onClick={clear}>
                {common.clearFilters}
              </Button>
            </Empty>
          )}
          {chosen.length > 0 && (
            <Suspense>
              <SelectionBar
                path={path}
                environment={environment}
                chosen={chosen}
                shown={found.length}
                onChooseShown={() => chooseAll(found.map((row) => row.flag))}
                onChoose={chooseAll}
              />
            </Suspense>
          )}
          {hasKeys && (
            <>
              <Text size="xs" c="dimmed" mt="md" visibleFrom="sm">
                {flagsTexts.keys}
              </Text>
              <VisuallyHidden>{flagsTexts.keys}</VisuallyHidden>
            </>
          )}
        </>
      )}
      <Text size="sm" mt="md">
        <AnchorLink
          to="/projects/$projectId/environments/$environmentId/archived"
          params={{ projectId: project.id, environmentId: environment.id }}
        >
          {flagsTexts.archived}
        </AnchorLink>
      </Text>
      <NewFlagDialog path={path} {...creation.props} />
    </Page>
  );
}
