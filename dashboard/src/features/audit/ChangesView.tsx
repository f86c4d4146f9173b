/** A page of changes with its filters: those of an environment, or of the whole project. */

import { Button, Text } from "@mantine/core";
import { type ReactNode, useState } from "react";
import type { Environment } from "../../api/client";
import { type ChangesSearch, toChangesSearch } from "../../api/changesFilter";
import { utcOffset } from "../../ui/time";
import { common } from "../../ui/commonTexts";
import { changesPage as texts } from "./changesPageTexts";
import { Empty } from "../../ui/Empty";
import { IconFunnelOff } from "../../ui/icons";
import { ChangeList, type ChangeListProps } from "./ChangeList";
import { ChangesFilters } from "./ChangesFilters";
import { ChangeSubject } from "./ChangeSubject";
import { NoChanges } from "./NoChanges";

interface Props extends Pick<ChangeListProps, "changes" | "flagNames"> {
  readonly projectId: string;
  readonly environments: readonly Environment[];
  readonly search: ChangesSearch;
  readonly onSearch: (search: ChangesSearch) => void;
  readonly actions?: ReactNode;
}

export function ChangesView({ projectId, environments, search, onSearch, actions, ...list }: Props) {
  const [now] = useState(() => new Date());
  const onFilter = (next: ChangesSearch) => onSearch(toChangesSearch({ ...next }));
  const isFiltered = Object.keys(search).length > 0;
  const noMatch = (
    <Empty icon={<IconFunnelOff size={22} />} title={texts.noMatch} text={texts.noMatchText}>
      <Button variant="default" onClick={() => onFilter({})}>
        {common.clearFilters}
      </Button>
    </Empty>
  );
  return (
    <>
      <ChangesFilters environments={environments} search={search} onChange={onFilter} />
      <Text size="xs" c="dimmed" mb="xs">
        {texts.zone(utcOffset(now))}
      </Text>
      <ChangeList
        {...list}
        projectId={projectId}
        empty={isFiltered ? noMatch : <NoChanges />}
        linked={(change, name) => <ChangeSubject projectId={projectId} change={change} name={name} />}
        exact
        actions={actions}
      />
    </>
  );
}
