/** The erasures of a project, newest first, and how far each has come. Users are known by digests only. */

import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type Erasure, erasuresQuery } from "./erasuresCalls";
import { erasures as texts } from "./erasuresTexts";
import { Sheet } from "../../ui/DataTable";
import { RowsSkeleton } from "../../ui/PageSkeleton";
import { LoadFailed } from "../../ui/ProblemPage";
import { When } from "../../ui/When";

const LOOK_MILLISECONDS = 2_000;
const DIGEST_SHOWN = 12;

export function EarlierErasures({ projectId }: { projectId: string }) {
  const { data, error, refetch } = useQuery({
    ...erasuresQuery(projectId),
    refetchInterval: ({ state }) => (state.data?.some(isUnfinished) ?? false) && LOOK_MILLISECONDS,
  });
  if (!data) return error ? <LoadFailed error={error} onRetry={refetch} /> : <RowsSkeleton rows={3} />;
  if (data.length === 0) return <Text c="dimmed">{texts.none}</Text>;
  const unfinished = data.filter(isUnfinished).length;
  return (
    <>
      <Text c="dimmed" size="sm">
        {texts.userText}
      </Text>
      <Text role="status" size="sm">
        {unfinished > 0 && texts.unfinished(unfinished)}
      </Text>
      <Sheet
        label={texts.earlier}
        rows={data}
        keyOf={({ id }) => id}
        columns={[
          { head: texts.when, cell: (each) => <When at={each.requested_at} /> },
          {
            head: texts.user,
            cell: (each) =>
              digestsOf(each).map((digest) => (
                <div key={digest} className="mono">
                  {digest}
                </div>
              )),
          },
          { head: texts.state, cell: (each) => (each.problem ? texts.waits(each.problem) : texts.stages[each.stage]) },
          { head: texts.evaluations, cell: (each) => each.evaluations.toLocaleString("en") },
          { head: texts.events, cell: (each) => each.events.toLocaleString("en") },
          { head: texts.releases, cell: (each) => each.release_users.toLocaleString("en") },
          { head: texts.changes, cell: (each) => each.changes.toLocaleString("en") },
        ]}
      />
    </>
  );
}

function isUnfinished({ finished_at: finishedAt }: Erasure): boolean {
  return finishedAt === null;
}

function digestsOf({ digests }: Erasure): string[] {
  return Object.entries(digests).map(
    ([field, digest]) => `${texts.of[field] ?? field} ${digest.slice(0, DIGEST_SHOWN)}`,
  );
}
