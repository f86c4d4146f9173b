/** The answers: all of them, or where two environments differ. */

import { Button, Group, SegmentedControl, Select, Text } from "@mantine/core";
import { useMemo, useState } from "react";
import { download } from "../../ui/download";
import { csvOf, differencesView, type Grid, type View, wholeView } from "./grid";
import { inFull } from "../../ui/time";
import { playground as texts } from "./playgroundTexts";
import { Empty } from "../../ui/Empty";
import { IconCheck, IconFlag } from "../../ui/icons";
import { AnswerGrid } from "./AnswerGrid";
import { Details, type Place } from "./Details";
import { Parts } from "./Parts";

const USERS_AT_ONCE = 25;
const CELLS_OF_A_USER = 20;

interface Props {
  readonly projectId: string;
  readonly grid: Grid;
}

export function Results({ projectId, grid }: Props) {
  const { environments, columns } = grid;
  const [sides, setSides] = useState<readonly [number, number] | null>(null);
  const view = useMemo(() => (sides ? differencesView(grid, ...sides) : wholeView(grid)), [grid, sides]);
  if (columns.length === 0) {
    return <Empty icon={<IconFlag size={22} />} title={texts.noFlagsHeading} text={texts.noFlagsText} />;
  }
  const save = () => download(new Blob([csvOf(grid, view)], { type: "text/csv" }), texts.fileName);
  return (
    <>
      <Group align="end" gap="sm" mb="sm">
        {environments.length > 1 && (
          <SegmentedControl
            aria-label={texts.show}
            value={sides ? "differences" : "all"}
            onChange={(mode) => setSides(mode === "all" ? null : [0, 1])}
            data={[
              { value: "all", label: texts.all },
              { value: "differences", label: texts.differences },
            ]}
          />
        )}
        {sides && environments.length > 2 && <Sides environments={environments} sides={sides} onChoose={setSides} />}
        <Button variant="default" onClick={save}>
          {texts.exportCsv}
        </Button>
      </Group>
      <Text size="sm" c="dimmed" mb="xs" role="status">
        {counted(grid, view, sides !== null)}, {texts.asOf(inFull(grid.evaluatedAt))}
        {grid.moreFlags && `. ${texts.moreFlags(columns.length)}`}
      </Text>
      {sides && view.count === 0 ? (
        <Empty
          icon={<IconCheck size={22} />}
          title={texts.sameHeading}
          text={texts.sameText(environments[sides[0]]?.name ?? "", environments[sides[1]]?.name ?? "")}
        />
      ) : (
        <Shown key={sides?.join() ?? "all"} projectId={projectId} grid={grid} view={view} />
      )}
    </>
  );
}

function counted({ users, environments, columns }: Grid, view: View, isDifference: boolean): string {
  if (!isDifference) return texts.counted(users.length, columns.length, environments.length);
  return texts.differing(view.count, users.length * columns.length, view.users.length, view.columns.length);
}

interface SidesProps {
  readonly environments: Grid["environments"];
  readonly sides: readonly [number, number];
  readonly onChoose: (sides: readonly [number, number]) => void;
}

function Sides({ environments, sides: [from, to], onChoose }: SidesProps) {
  const data = environments.map(({ name }, place) => ({ value: String(place), label: name }));
  const choose = (one: number, other: number, isFrom: boolean) => {
    if (one !== other) onChoose([one, other]);
    else onChoose(isFrom ? [one, from] : [to, other]); // they change places
  };
  return (
    <>
      <Select
        label={texts.from}
        data={data}
        value={String(from)}
        allowDeselect={false}
        onChange={(place) => choose(Number(place), to, true)}
      />
      <Select
        label={texts.to}
        data={data}
        value={String(to)}
        allowDeselect={false}
        onChange={(place) => choose(from, Number(place), false)}
      />
    </>
  );
}

/** A part of the answers, and the details of the one that has the focus or had it last. */
function Shown({ projectId, grid, view }: Props & { readonly view: View }) {
  const [firstUser, setFirstUser] = useState(0);
  const [firstFlag, setFirstFlag] = useState(0);
  const [place, setPlace] = useState<Place | null>(null);
  const flagsAtOnce = Math.floor(CELLS_OF_A_USER / view.sides.length);
  const { users, flags } = texts.pageOf;
  return (
    // The details stay in view beside the answers, but never cover what is above them.
    <div>
      <Group gap="lg" mb="xs">
        <Parts name={users} first={firstUser} size={USERS_AT_ONCE} all={view.users.length} onTurn={setFirstUser} />
        <Parts name={flags} first={firstFlag} size={flagsAtOnce} all={view.columns.length} onTurn={setFirstFlag} />
      </Group>
      <AnswerGrid
        grid={grid}
        view={view}
        users={view.users.slice(firstUser, firstUser + USERS_AT_ONCE)}
        columns={view.columns.slice(firstFlag, firstFlag + flagsAtOnce)}
        onChoose={setPlace}
      />
      <Text size="xs" c="dimmed" mt="xs">
        {texts.keys}
      </Text>
      <Details projectId={projectId} grid={grid} place={place} />
    </div>
  );
}
