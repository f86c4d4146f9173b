/** The numbers of users who had the flag on and off on each of the last days. */

import { Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { FlagPath } from "../../api/client";
import { usersQuery } from "./distinctUsersCalls";
import type { DistinctUsers, Summary } from "./historyCalls";
import { rulesQuery } from "../flags/rulesCalls";
import type { FlagPlace } from "../../api/flagPlace";
import { utcDay } from "../../ui/time";
import { accuracyInWords, daysOf, type NamedUsers, usersByRule, usersByVariant, type UsersDay, usersInWords } from "./users"; // prettier-ignore
import { usersTexts } from "./historyTexts";
import { common } from "../../ui/commonTexts";
import { DataTable } from "../../ui/DataTable";
import { Given } from "../../ui/Given";
import { RowsSkeleton } from "../../ui/PageSkeleton";
import { LoadFailed } from "../../ui/ProblemPage";
import classes from "./Users.module.css";

export function Users({ path, flag }: Pick<FlagPlace, "path" | "flag">) {
  const { data: summary, error, refetch } = useQuery(usersQuery(path, flag.key));
  return (
    <section aria-label={usersTexts.heading}>
      <Title order={2}>{usersTexts.heading}</Title>
      {!summary && error && <LoadFailed error={error} onRetry={refetch} />}
      {!summary && !error && <RowsSkeleton rows={4} />}
      {summary && <Counts summary={summary} flagKey={flag.key} path={path} />}
    </section>
  );
}

function Counts({ summary, flagKey, path }: { summary: Summary; flagKey: string; path: FlagPath }) {
  const { data: rules = [] } = useQuery(rulesQuery(path));
  const days = daysOf(summary, flagKey);
  const all = summary.distinct_users ?? null;
  if (days.every(({ users }) => users?.on === 0 && users.off === 0)) {
    return (
      <Text c="dimmed" size="sm">
        {usersTexts.none}
      </Text>
    );
  }
  return (
    <>
      <Text size="sm" mb="sm">
        {all
          ? usersTexts.all(days.length, usersInWords(all.on, all.error), usersInWords(all.off, all.error))
          : usersTexts.unknownAll(days.length)}
      </Text>
      <Table days={days} />
      {all && (
        <>
          <NamedTable
            caption={usersTexts.byVariant}
            head={usersTexts.variant}
            rows={usersByVariant(all)}
            error={all.error}
          />
          <NamedTable
            caption={usersTexts.byRule}
            head={usersTexts.rule}
            rows={usersByRule(all, rules)}
            error={all.error}
          />
        </>
      )}
      <Text size="xs" c="dimmed" mt="xs">
        {accuracyInWords([all, ...days.map(({ users }) => users)])} {usersTexts.note}
      </Text>
    </>
  );
}

function Table({ days }: { days: readonly UsersDay[] }) {
  const most = Math.max(1, ...days.flatMap(({ users }) => (users ? [users.on, users.off] : [])));
  return (
    <DataTable
      className={classes.table}
      columns={[
        { head: usersTexts.day, cell: ({ start }) => utcDay(start) },
        {
          head: common.on,
          cell: ({ users }) => (users ? <Count of={users} side="on" most={most} /> : usersTexts.unknown),
          attributes: ({ users }) => (users ? {} : { colSpan: 2, className: classes.unknown }),
        },
        {
          head: common.off,
          cell: ({ users }) => users && <Count of={users} side="off" most={most} />,
          attributes: ({ users }) => ({ hidden: users === null }),
        },
      ]}
      rows={days}
      keyOf={({ start }) => start}
    />
  );
}

interface NamedProps {
  readonly caption: string;
  readonly head: string;
  readonly rows: readonly NamedUsers[];
  readonly error: number;
}

/** The users of all days together, by what they got. */
function NamedTable({ caption, head, rows, error }: NamedProps) {
  if (rows.length === 0) return null;
  return (
    <DataTable
      className={`${classes.table} ${classes.named}`}
      caption={<caption>{caption}</caption>}
      columns={[
        { head, cell: ({ name }) => <Given text={name} /> },
        { head: usersTexts.heading, cell: ({ users }) => usersInWords(users, error) },
      ]}
      rows={rows}
      keyOf={({ name }, place) => `${name} ${place}`}
    />
  );
}

function Count({ of, side, most }: { of: DistinctUsers; side: "on" | "off"; most: number }) {
  return (
    <span className={classes.count}>
      <span className={classes.number}>{usersInWords(of[side], of.error)}</span>
      <span className={classes.track} aria-hidden>
        <span className={classes.bar} data-side={side} style={{ width: `${(of[side] / most) * 100}%` }} />
      </span>
    </span>
  );
}
