/** The segments of a project: conditions with a name, which the rules of its flags can refer to. */

import { useQuery } from "@tanstack/react-query";
import { lazy, useRef } from "react";
import { segmentsQuery } from "../flags/segmentsCalls";
import { Empty } from "../../ui/Empty";
import { IconGroup, IconHistory } from "../../ui/icons";
import { Page } from "../../ui/Page";
import { RowsSkeleton } from "../../ui/PageSkeleton";
import { LoadFailed } from "../../ui/ProblemPage";
import { SegmentDialog } from "../flags/targeting/SegmentDialog";
import { SegmentRow } from "./SegmentRow";
import classes from "../../ui/ResourceRow.module.css";
import { Unfold } from "../../ui/Unfold";
import { useDialog } from "../../ui/useDialog";
import { useProject } from "../../ui/useHere";
import { segments as texts } from "../flags/targeting/segmentsTexts";
import { NewButton } from "../../ui/NewButton";

const ProjectChanges = lazy(() => import("../audit/ProjectChanges"));

export function SegmentsPage() {
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
