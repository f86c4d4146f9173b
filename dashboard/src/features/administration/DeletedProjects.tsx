/** The deleted projects whose audit trail is still kept, and its deletion at once; nothing if there are none. */

import { Text, Title } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useCallback, useLayoutEffect, useRef, useState } from "react";
import { type DeletedProject, deletedProjectsQuery, useDeleteTrail } from "./administrationCalls";
import { useDialog } from "../../ui/useDialog";
import { notifyDone } from "../../api/notify";
import { administration as texts } from "./administrationTexts";
import { ConfirmDialog } from "../../ui/ConfirmDialog";
import { Given } from "../../ui/Given";
import { GuardedButton } from "../../ui/GuardedButton";
import { Pages } from "../../ui/Pages";
import { When } from "../../ui/When";
import classes from "./Administration.module.css";

const LOOK_MILLISECONDS = 2_000;

export function DeletedProjects() {
  const query = useInfiniteQuery({
    ...deletedProjectsQuery,
    refetchInterval: ({ state: { data } }) =>
      (data?.pages.some(({ items }) => items.some(isBeingDeleted)) ?? false) && LOOK_MILLISECONDS,
  });
  const projects = query.data?.pages.flatMap(({ items }) => items) ?? [];
  const heading = useRef<HTMLHeadingElement>(null);
  const focusHeading = useCallback(() => heading.current?.focus(), []);
  const [hadSome, setHadSome] = useState(false);
  if (projects.length > 0 && !hadSome) setHadSome(true);
  if (!query.error && !hadSome) return null;
  return (
    <section aria-label={texts.deletedProjects}>
      <Title order={2} mt="xl" ref={heading} tabIndex={-1}>
        {texts.deletedProjects}
      </Title>
      <Text c="dimmed" size="sm" mb="sm">
        {texts.deletedProjectsIntro}
      </Text>
      <Pages
        query={query}
        count={projects.length}
        more={texts.more}
        empty={<Text role="status">{texts.trailsGone}</Text>}
      >
        <ul className={classes.list} aria-label={texts.deletedProjects}>
          {projects.map((each) => (
            <Row key={each.id} project={each} onLeft={focusHeading} />
          ))}
        </ul>
      </Pages>
    </section>
  );
}

function isBeingDeleted({ trail_deletion_ordered_at: orderedAt }: DeletedProject): boolean {
  return orderedAt !== null;
}

interface RowProps {
  readonly project: DeletedProject;
  /** Is called when the row goes and takes the focus with it. */
  readonly onLeft: () => void;
}

function Row({ project, onLeft }: RowProps) {
  const { name, deleted_at: deletedAt } = project;
  const confirmation = useDialog();
  const { mutateAsync: deleteTrail } = useDeleteTrail(project);
  const row = useRef<HTMLLIElement>(null);
  useLayoutEffect(() => {
    const shown = row.current;
    return () => {
      if (shown?.contains(document.activeElement)) onLeft();
    };
  }, [onLeft]);
  const confirm = async () => {
    await deleteTrail();
    confirmation.props.onClose();
    notifyDone(texts.trailOrdered(name));
  };
  return (
    <li ref={row} className={classes.row}>
      <div className={classes.name}>
        <Given text={name} />
        <div className={classes.detail}>
          {texts.deletedAt} <When at={deletedAt} />
        </div>
      </div>
      <div className={classes.end}>
        <GuardedButton
          variant="default"
          size="compact-sm"
          label={texts.deleteTrailOf(name)}
          refusal={isBeingDeleted(project) ? texts.trailBeingDeleted : null}
          onClick={confirmation.open}
        >
          {texts.deleteTrail}
        </GuardedButton>
      </div>
      <ConfirmDialog
        title={texts.deleteTrailHeading(name)}
        consequence={texts.deleteTrailText}
        action={texts.deleteTrail}
        name={name}
        onConfirm={confirm}
        {...confirmation.props}
      />
    </li>
  );
}
