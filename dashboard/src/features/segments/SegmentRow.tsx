/** A segment in the list: whom it contains, and where it is used. */

import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Segment } from "../../api/client";
import { segmentUsesQuery, useDeleteSegment } from "../flags/segmentsCalls";
import { lineOf } from "../../api/problem";
import { clauseParts } from "../../ui/conditions/conditions";
import { useDialog } from "../../ui/useDialog";
import { useEnvironments } from "../../ui/useHere";
import { common } from "../../ui/commonTexts";
import { deletion as deletionTexts } from "../../ui/deletionTexts";
import { segments as texts } from "../flags/targeting/segmentsTexts";
import { AnchorLink } from "../../ui/links";
import { Parts } from "../../ui/Parts";
import { draftOfSegment, SegmentDialog } from "../flags/targeting/SegmentDialog";
import classes from "../../ui/ResourceRow.module.css";
import { ResourceRow } from "../../ui/ResourceRow";

interface Props {
  readonly projectId: string;
  readonly segment: Segment;
  readonly onDeleted: () => void;
}

export function SegmentRow({ projectId, segment, onDeleted }: Props) {
  const editing = useDialog(draftOfSegment(projectId, segment));
  const { mutateAsync } = useDeleteSegment(projectId, segment.id, segment.name);
  return (
    <ResourceRow
      projectId={projectId}
      resource={segment}
      actions={texts.actions(segment.name)}
      consequence={deletionTexts.segment}
      saysSo={false}
      onEdit={editing.open}
      onDelete={async (tag) => {
        await mutateAsync({ tag });
        onDeleted();
      }}
    >
      <div className={classes.sentence}>
        {segment.conditions.length === 0 ? (
          texts.everyone
        ) : (
          <>
            {texts.members} <Parts parts={clauseParts(segment.conditions)} />
          </>
        )}
      </div>
      <Uses projectId={projectId} segment={segment} />
      <SegmentDialog projectId={projectId} segment={segment} {...editing.props} />
    </ResourceRow>
  );
}

/** Asked for when it is opened, because it takes a call for each segment. */
function Uses({ projectId, segment }: Pick<Props, "projectId" | "segment">) {
  const [opened, setOpened] = useState(false);
  const { data: uses, error } = useQuery({ ...segmentUsesQuery(projectId, segment.id), enabled: opened });
  const environments = useEnvironments();
  return (
    <details onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary className={classes.summary}>
        {texts.uses}
        <span className={classes.of}> {texts.usesOf(segment.name)}</span>
      </summary>
      <div role="status">
        {error && <Text size="sm">{lineOf(error)}</Text>}
        {!uses && !error && opened && <Text size="sm">{common.loading}</Text>}
        {uses?.length === 0 && <Text size="sm">{texts.unused}</Text>}
      </div>
      {uses && uses.length > 0 && (
        <ul className={classes.uses}>
          {uses.map(({ environment_key: environmentKey, flag_key: flagKey, archived }) => {
            const here = "/projects/$projectId/environments/$environmentId";
            const environment = environments.find((each) => each.key === environmentKey);
            return (
              <li key={`${environmentKey} ${flagKey}`}>
                {environment ? (
                  <AnchorLink
                    to={archived ? `${here}/archived` : here}
                    params={{ projectId, environmentId: environment.id }}
                    search={archived ? {} : { q: flagKey }}
                    className="break"
                  >
                    {texts.use(flagKey, environment.name)}
                  </AnchorLink>
                ) : (
                  texts.use(flagKey, environmentKey)
                )}
                {archived && texts.archived}
              </li>
            );
          })}
        </ul>
      )}
    </details>
  );
}
