/** The callers of an environment in a table, which can be sorted and limited to one SDK key. */

import { Group, NativeSelect, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Caller } from "../credentials/callersCalls";
import { sdkKeysQuery } from "../credentials/sdkKeysCalls";
import { keyNameOf, nameOf, SORTS, type Sort, sorted } from "../credentials/callers";
import { callers as texts } from "../credentials/callersTexts";
import { type Column, Sheet } from "../../ui/DataTable";
import { When } from "../../ui/When";
import { Given } from "../../ui/Given";

// The table scrolls on a phone, instead of breaking words.
const AGENT = { display: "inline-block", minWidth: "12rem" };
const SHORT = { style: { whiteSpace: "nowrap" } } as const;
const ANY = "";
const PROJECT = "project";

interface Props {
  readonly projectId: string;
  readonly callers: readonly Caller[];
}

export function Callers({ projectId, callers }: Props) {
  const [sort, setSort] = useState<Sort>("last");
  const [chosen, setChosen] = useState(ANY);
  const { data: keys } = useQuery({ ...sdkKeysQuery(projectId), retry: false });
  const used = new Map(callers.map((each) => [each.sdk_key_id ?? PROJECT, keyNameOf(each, keys)]));
  const shown = callers.filter((each) => chosen === ANY || (each.sdk_key_id ?? PROJECT) === chosen);
  return (
    <>
      <Group gap="sm" mb="sm">
        <NativeSelect
          label={texts.sort}
          value={sort}
          data={SORTS.map((value) => ({ value, label: texts.sorts[value] }))}
          onChange={(event) => setSort(event.currentTarget.value as Sort)}
        />
        <NativeSelect
          label={texts.filter}
          value={chosen}
          data={[{ value: ANY, label: texts.anyKey }, ...[...used].map(([value, label]) => ({ value, label }))]}
          onChange={(event) => setChosen(event.currentTarget.value)}
        />
      </Group>
      {shown.length === 0 ? <Text>{texts.noneMatch}</Text> : <Table callers={sorted(shown, sort)} {...{ keys }} />}
    </>
  );
}

interface TableProps {
  readonly callers: readonly Caller[];
  readonly keys: Parameters<typeof keyNameOf>[1];
}

function Table({ callers, keys }: TableProps) {
  const cells: readonly Column<Caller>["cell"][] = [
    ({ protocol }) => texts.protocols[protocol],
    ({ network }) => (network === null ? texts.noNetwork : <code>{network}</code>),
    (each) => keyNameOf(each, keys),
    (each) => each.requests_per_minute.toLocaleString("en"),
    (each) => each.requests_last_24_hours.toLocaleString("en"),
    (each) => <When at={each.first_used_at} />,
    (each) => <When at={each.last_used_at} />,
  ];
  return (
    <Sheet
      label={texts.heading}
      columns={[
        {
          head: texts.caller,
          cell: (each) => (
            <span style={AGENT}>
              <Given text={nameOf(each)} />
            </span>
          ),
        },
        ...cells.map((cell, place): Column<Caller> => ({ head: texts.columns[place], cell, attributes: () => SHORT })),
      ]}
      rows={callers}
      keyOf={(each) => [each.protocol, each.sdk_key_id, each.is_others, each.network, each.user_agent].join(" ")}
    />
  );
}
