/** The segments of a project: conditions with a name, which the rules of its flags can refer to. */

import { useQuery } from "@tanstack/react-query";
import { lazy, useRef } from "react";
import { segmentsQuery } from "../api/segments";
import { Empty } from "../components/shared/Empty";
import { IconGroup, IconHistory } from "../components/shared/icons";
import { Page } from "../components/shared/Page";
import { RowsSkeleton } from "../components/shared/PageSkeleton";
import { LoadFailed } from "../components/shared/ProblemPage";
import { SegmentDialog } from "../components/rules/SegmentDialog";
import { SegmentRow } from "../components/rules/SegmentRow";
import classes from "../components/shared/ResourceRow.module.css";
import { Unfold } from "../components/shared/Unfold";
import { useDialog } from "../lib/hooks/useDialog";
import { useProject } from "../lib/hooks/useHere";
import { segments as texts } from "../texts/segments";
import { NewButton } from "../components/shared/NewButton";

const ProjectChanges = lazy(() => import("../components/changes/ProjectChanges"));

export function Segments() {
  const project = useProject();
  const creation = useDialog();
  const create = useRef<HTMLButtonElement>(null);
  const { data: segments, error, refetch } = useQuery(segmentsQuery(project.id));
  const button = (
    <NewButton needs="segments:write" ref={create} onClick={creation.open}>
      {texts.new}
    </NewButton>
  );
  const isEmpty = segments?.length === 0;
  return (
    <Page title={texts.heading} intro={texts.intro} actions={button}>
      {error && !segments && <LoadFailed error={error} onRetry={refetch} />}
      {!segments && !error && <RowsSkeleton rows={4} height={64} />}
      {isEmpty && <Empty icon={<IconGroup size={22} />} title={texts.emptyHeading} text={texts.emptyText} />}
      {segments && !isEmpty && (
        <ul className={classes.list}>
          {segments.map((each) => (
            <SegmentRow key={each.id} projectId={project.id} segment={each} onDeleted={() => create.current?.focus()} />
          ))}
        </ul>
      )}
      <Unfold label={texts.changes} icon={<IconHistory size={15} />}>
        <ProjectChanges projectId={project.id} resource="segment" />
      </Unfold>
      <SegmentDialog projectId={project.id} {...creation.props} />
    </Page>
  );
}
