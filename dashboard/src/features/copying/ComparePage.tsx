/** Compares two environments, and copies flags from one to the other. */

import { Checkbox, Group, Select, Stack, Text, Title } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { type ReactNode, useMemo, useState } from "react";
import { compareQuery, type Comparison, FLAGS_MAX } from "./comparisonsCalls";
import { DifferenceRow, type Pair } from "./DifferenceRow";
import classes from "./Differences.module.css";
import { Empty } from "../../ui/Empty";
import { GuardedButton } from "../../ui/GuardedButton";
import { IconButton } from "../../ui/IconButton";
import { IconCheck, IconSwap } from "../../ui/icons";
import { lateDialog } from "../../ui/lateDialog";
import { Page } from "../../ui/Page";
import { Pages } from "../../ui/Pages";
import { chosenPair, toCompareSearch } from "./comparisons";
import { useDialog } from "../../ui/useDialog";
import { useEnvironments, useProject } from "../../ui/useHere";
import { compare as texts } from "./compareTexts";
import { useUrlState } from "../../ui/useUrlState";

const CopyDialog = lateDialog(() => import("./CopyDialog").then((module) => module.CopyDialog));
const route = getRouteApi("/signed-in/projects/$projectId/compare");

export function ComparePage() {
  const project = useProject();
  const environments = useEnvironments();
  const [search, change] = useUrlState(route, toCompareSearch);
  const pair = chosenPair(environments, search);
  const choose = (from: string, to: string) => change({ from, to });
  if (!pair) {
    return (
      <Page title={texts.heading} intro={texts.intro}>
        <Empty icon={<IconSwap size={22} />} title={texts.fewHeading} text={texts.fewText} />
      </Page>
    );
  }
  const { origin, target } = pair;
  const options = environments.map((each) => ({ value: each.id, label: each.name }));
  return (
    <Page title={texts.heading} intro={texts.intro}>
      <Group align="end" gap="sm" mb="lg">
        <Select
          label={texts.from}
          data={options}
          value={origin.id}
          allowDeselect={false}
          onChange={(id) => id !== null && choose(id, id === target.id ? origin.id : target.id)}
        />
        <IconButton hint={texts.swap} label={texts.swap} onClick={() => choose(target.id, origin.id)}>
          <IconSwap size={16} />
        </IconButton>
        <Select
          label={texts.to}
          data={options}
          value={target.id}
          allowDeselect={false}
          onChange={(id) => id !== null && choose(id === origin.id ? target.id : origin.id, id)}
        />
      </Group>
      <Differences key={`${origin.id} ${target.id}`} projectId={project.id} pair={pair} />
    </Page>
  );
}

function Differences({ projectId, pair }: { projectId: string; pair: Pair }) {
  const query = useInfiniteQuery(compareQuery(projectId, pair.origin.id, pair.target.id));
  const items = useMemo(() => query.data?.pages.flatMap((page) => page.items) ?? [], [query.data]);
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  const dialog = useDialog();
  const copyable = items.filter((each) => each.from !== null);
  // A flag that no longer differs is not in the list.
  const keys = copyable.map((each) => each.flag_key).filter((key) => ticked.has(key));
  const leaveOut = (left: readonly string[]) => setTicked(new Set(keys.filter((key) => !left.includes(key))));
  const tick = (key: string, isTicked: boolean) =>
    setTicked(new Set(isTicked ? [...keys, key] : keys.filter((each) => each !== key)));
  const all = copyable.slice(0, FLAGS_MAX);
  const sections = [
    { place: "both", title: texts.both },
    { place: "only_from", title: texts.only(pair.origin.name) },
    { place: "only_to", title: texts.only(pair.target.name) },
  ] as const;
  return (
    <Pages
      query={query}
      count={items.length}
      more={texts.more}
      empty={
        <Empty
          icon={<IconCheck size={22} />}
          title={texts.equalHeading}
          text={texts.equalText(pair.origin.name, pair.target.name)}
        />
      }
    >
      <Stack gap="lg">
        {copyable.length > 0 && (
          <Checkbox
            label={texts.tickAll(all.length)}
            checked={keys.length >= all.length}
            indeterminate={keys.length > 0 && keys.length < all.length}
            onChange={(event) =>
              setTicked(new Set(event.currentTarget.checked ? all.map((each) => each.flag_key) : []))
            }
          />
        )}
        {sections.map(({ place, title }) => (
          <Section
            key={place}
            title={title}
            items={items.filter((each) => each.place === place)}
            render={(item) => (
              <DifferenceRow
                key={item.flag_key}
                projectId={projectId}
                pair={pair}
                item={item}
                ticked={ticked.has(item.flag_key)}
                onTick={item.from ? (isTicked) => tick(item.flag_key, isTicked) : undefined}
              />
            )}
          />
        ))}
      </Stack>
      {keys.length > 0 && (
        <div className={classes.bar}>
          <Text role="status">{keys.length > FLAGS_MAX ? texts.tooMany(FLAGS_MAX) : texts.chosen(keys.length)}</Text>
          <GuardedButton
            needs="flags:write"
            within={pair.target}
            refusal={keys.length > FLAGS_MAX ? texts.tooMany(FLAGS_MAX) : null}
            onClick={dialog.open}
          >
            {texts.copyTo(pair.target.name)}
          </GuardedButton>
        </div>
      )}
      <CopyDialog
        projectId={projectId}
        pair={pair}
        keys={keys}
        onLeaveOut={leaveOut}
        onCopied={() => setTicked(new Set())}
        {...dialog.props}
      />
    </Pages>
  );
}

interface SectionProps {
  readonly title: string;
  readonly items: readonly Comparison[];
  readonly render: (item: Comparison) => ReactNode;
}

function Section({ title, items, render }: SectionProps) {
  if (items.length === 0) return null;
  return (
    <section aria-label={title}>
      <Title order={2} mb="xs" className="break">
        {title}
      </Title>
      <ul className={classes.list}>{items.map(render)}</ul>
    </section>
  );
}
