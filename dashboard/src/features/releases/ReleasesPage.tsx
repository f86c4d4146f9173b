/** The releases of an environment that have not ended. */

import { Badge, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { flagsQuery } from "../flags/flagsCalls";
import { openReleasesQuery, type Release } from "./releasesCalls";
import classes from "./Releases.module.css";
import { STATE_COLOURS } from "./stateColours";
import { Empty } from "../../ui/Empty";
import { IconHistory } from "../../ui/icons";
import { AnchorLink } from "../../ui/links";
import { Page } from "../../ui/Page";
import { RowsSkeleton } from "../../ui/PageSkeleton";
import { LoadFailed } from "../../ui/ProblemPage";
import { changesInWords, nameOf } from "./releases";
import { inFull } from "../../ui/time";
import { useHere } from "../../ui/useHere";
import { releases as texts } from "./releasesTexts";

export function ReleasesPage() {
  const { path } = useHere();
  const { data: releases, error, refetch } = useQuery(openReleasesQuery(path));
  const { data: flags } = useQuery(flagsQuery(path));
  const names = new Map(flags?.map(({ id, name }) => [id, name]));
  return (
    <Page title={texts.overview} intro={texts.overviewIntro}>
      {error && !releases && <LoadFailed error={error} onRetry={refetch} />}
      {!releases && !error && <RowsSkeleton rows={4} height={64} />}
      {releases?.length === 0 && (
        <Empty icon={<IconHistory size={22} />} title={texts.overviewEmptyHeading} text={texts.overviewEmptyText} />
      )}
      {releases && releases.length > 0 && (
        <ul className={classes.list} aria-label={texts.overview}>
          {releases.map((each) => (
            <li key={each.id} className={classes.row}>
              <Group gap="xs">
                <AnchorLink
                  to="/projects/$projectId/environments/$environmentId/flags/$flagId"
                  params={{ projectId: path.project_id, environmentId: path.env_id, flagId: each.flag_id }}
                  search={{ tab: "releases" }}
                  fw={570}
                  className="break"
                >
                  {names.get(each.flag_id) ?? each.flag_id}
                </AnchorLink>
                <Badge {...STATE_COLOURS[each.state]}>{texts.states[each.state]}</Badge>
              </Group>
              <Text size="sm" c="dimmed" className="break">
                {nameOf(each)} {texts.by(each.author.email)} · <Standing release={each} />
              </Text>
              {each.reason !== null && (
                <Text size="sm" className="break">
                  {each.reason}
                </Text>
              )}
            </li>
          ))}
        </ul>
      )}
    </Page>
  );
}

/** The current step, and what comes next and when. */
function Standing({ release }: { release: Release }) {
  const inForce = release.applied.findLast(({ skipped }) => !skipped);
  const next = release.next_step === null ? undefined : release.steps[release.next_step];
  return (
    <>
      {inForce ? texts.stepOf(inForce.step + 1, release.steps.length) : texts.notBegun(release.steps.length)}
      {next && ` · ${texts.nextStep}: ${changesInWords(next.changes, [])}`}
      {!next && release.due_at !== null && ` · ${texts.watchedUntil}`}{" "}
      {release.due_at !== null && <time dateTime={release.due_at}>{inFull(release.due_at)}</time>}
    </>
  );
}
