/** The results of a release: its users by arm, and each metric that it watches. */

import { Alert, Stack, Text, Title } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { outlookQuery } from "./outlooksCalls";
import { exportUsers, type Release, type Results as Counted, resultsQuery } from "./releasesCalls";
import { download } from "../../ui/download";
import type { FlagPlace } from "../../api/flagPlace";
import { notifyRefused } from "../../api/notify";
import { partColour } from "../../ui/charts/partColours";
import { countScale } from "../../ui/charts/releaseCharts";
import { digits } from "../../ui/digits";
import { armInWords, percent } from "./releases";
import { isOpen } from "./releaseState";
import { inFull } from "../../ui/time";
import { useGuard } from "../../ui/useGuard";
import { releases as texts } from "./releasesTexts";
import { GuardedButton } from "../../ui/GuardedButton";
import { IconAlert } from "../../ui/icons";
import { RowsSkeleton } from "../../ui/PageSkeleton";
import { LoadFailed } from "../../ui/ProblemPage";
import { GuardResult } from "./GuardResult";
import { LineChart } from "../../ui/charts/LineChart";
import classes from "./Releases.module.css";

type Props = Pick<FlagPlace, "path" | "flag"> & { readonly release: Release };

const NEEDS = "evaluations:read";

export function Results({ path, flag, release }: Props) {
  const { reason } = useGuard({ needs: NEEDS });
  const { data, error, refetch } = useQuery({ ...resultsQuery(path, release), enabled: reason === null });
  const { data: outlook } = useQuery({
    ...outlookQuery(path, release),
    enabled: reason === null && isOpen(release) && release.guards.length > 0,
  });
  const file = useMutation({
    mutationFn: () => exportUsers(path, release.id),
    onSuccess: (content) => download(content, texts.usersFile(flag.key)),
    onError: (refusal) => notifyRefused(texts.notExported, refusal),
  });
  if (reason !== null) {
    return (
      <Text size="sm" c="dimmed">
        {texts.notShown} {reason}
      </Text>
    );
  }
  if (!data) return error ? <LoadFailed error={error} onRetry={refetch} /> : <RowsSkeleton rows={4} />;
  return (
    <div className={classes.results}>
      {data.split.is_wrong && (
        <Alert color="alarm" variant="light" icon={<IconAlert />} title={texts.splitHeading}>
          {data.split.words}
        </Alert>
      )}
      {data.failing_since !== null && (
        <Alert color="alarm" variant="light" icon={<IconAlert />} title={texts.failingHeading}>
          {texts.failing(inFull(data.failing_since))}
        </Alert>
      )}
      <Users release={release} counted={data} />
      {data.metrics.length > 0 && (
        <section aria-label={texts.guards}>
          <Title order={3} size="h2" mb="sm">
            {texts.guards}
          </Title>
          <Text size="sm" c="dimmed" mb="sm">
            {texts.evidenceNote(digits(release.false_alarm_rate * 100))}{" "}
            {texts.intervalNote(percent(1 - release.false_alarm_rate / Math.max(1, release.guards.length)))}{" "}
            {data.metrics.some(({ kind }) => kind !== "binary") && texts.meanNote}
          </Text>
          {data.metrics.map((each) => (
            <GuardResult
              key={each.metric}
              release={release}
              counted={data}
              result={each}
              outlook={isOpen(release) ? outlook?.guards.find(({ metric }) => metric === each.metric) : undefined}
            />
          ))}
        </section>
      )}
      <div>
        <GuardedButton needs={NEEDS} variant="default" size="xs" loading={file.isPending} onClick={() => file.mutate()}>
          {texts.usersCsv}
        </GuardedButton>
      </div>
    </div>
  );
}

function Users({ release, counted }: { release: Release; counted: Counted }) {
  const arms = counted.steps.at(-1)?.arms ?? [];
  const { browser_keys: browserKeys } = counted;
  return (
    <section aria-label={texts.usersExposed}>
      <Title order={3} size="h2" mb="sm">
        {texts.usersExposed}
      </Title>
      <div className={classes.charts}>
        <Stack gap="sm">
          {arms.length === 0 ? (
            <Text size="sm" c="dimmed">
              {texts.noUsers}
            </Text>
          ) : (
            <dl className={classes.arms}>
              {arms.map(({ name, share, users }) => (
                <div key={name}>
                  <dt>{armInWords(name)}</dt>
                  <dd>
                    <span className={classes.number}>{users.toLocaleString("en")}</span>
                    <small>{texts.asked(percent(share))}</small>
                  </dd>
                </div>
              ))}
            </dl>
          )}
          <Text size="xs" c="dimmed">
            {texts.usersNote} {texts.keysCount[release.counts]} {browserKeys.count && sentByBrowserKeys(counted)}
          </Text>
          <LeftOut counted={counted} />
        </Stack>
        <UsersChart counted={counted} />
      </div>
    </section>
  );
}

/** What was sent with browser keys; false if nothing was. */
function sentByBrowserKeys({ browser_keys: { evaluations, events } }: Counted): string | false {
  return evaluations + events > 0 && texts.byBrowserKeys(evaluations, events);
}

function LeftOut({ counted }: { counted: Counted }) {
  const notes = [
    counted.left_out_by_rules > 0 && texts.leftOutByRules(counted.left_out_by_rules),
    counted.left_out_by_buckets > 0 && texts.leftOutByBuckets(counted.left_out_by_buckets),
    counted.in_two_arms > 0 && texts.inTwoArms(counted.in_two_arms),
    counted.without_identifier > 0 && texts.withoutIdentifier(counted.without_identifier),
    counted.not_counted > 0 && texts.beyond(counted.not_counted),
    counted.untimely_events > 0 && texts.untimely(counted.untimely_events),
    !counted.browser_keys.count && sentByBrowserKeys(counted),
  ].filter((each) => each !== false);
  if (notes.length === 0) return null;
  return (
    <div>
      <Text size="sm" fw={570}>
        {texts.leftOut}
      </Text>
      <ul className={classes.notes}>
        {notes.map((each) => (
          <li key={each}>{each}</li>
        ))}
      </ul>
    </div>
  );
}

function UsersChart({ counted }: { counted: Counted }) {
  const { arms: names, chart } = counted;
  if (chart.length === 0 || names.length === 0) return null;
  const all = chart.flatMap(({ users }) => users);
  const scale = countScale(all);
  const lines = names.map((name, arm) => {
    const users = chart.map((point) => point.users[arm] ?? 0);
    return {
      name: armInWords(name),
      colour: arm === 0 ? "var(--off)" : partColour(arm - 1),
      places: users.map(scale),
      words: users.map((count) => count.toLocaleString("en")),
    };
  });
  return (
    <LineChart
      label={texts.usersExposed}
      times={chart.map(({ at }) => Date.parse(at))}
      lines={lines}
      most={Math.max(1, ...all).toLocaleString("en")}
    />
  );
}
