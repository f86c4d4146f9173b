/** Access tokens: one's own, and those for a project. */

import { useQuery } from "@tanstack/react-query";
import { lazy, useRef } from "react";
import { permissionsQuery } from "../../api/members";
import { tokensQuery } from "./tokensCalls";
import { Empty } from "../../ui/Empty";
import { IconHistory, IconLock } from "../../ui/icons";
import classes from "../../ui/ListRows.module.css";
import { NewTokenDialog } from "./NewTokenDialog";
import type { TokenPlace } from "./NewTokenForm";
import { Page } from "../../ui/Page";
import { RowsSkeleton } from "../../ui/PageSkeleton";
import { LoadFailed, Locked } from "../../ui/ProblemPage";
import { TokenRow } from "./TokenRow";
import { Unfold } from "../../ui/Unfold";
import { useDialog } from "../../ui/useDialog";
import { useGuard } from "../../ui/useGuard";
import { useEnvironments, useProject } from "../../ui/useHere";
import { problemsTexts } from "../../api/problemsTexts";
import { tokens as tokenTexts } from "./tokensTexts";
import { NewButton } from "../../ui/NewButton";

const ProjectChanges = lazy(() => import("../audit/ProjectChanges"));

export function OwnTokens() {
  return <Tokens projectId={null} environments={[]} own={undefined} />;
}

export function ProjectTokens() {
  const { id } = useProject();
  const { data: own } = useQuery(permissionsQuery(id));
  return <Tokens projectId={id} environments={useEnvironments()} own={own} />;
}

function Tokens(place: TokenPlace) {
  const { projectId, environments } = place;
  const create = useRef<HTMLButtonElement>(null);
  const creation = useDialog();
  const { reason } = useGuard({ needs: projectId === null ? undefined : "tokens:read" });
  const isShown = reason === null;
  const { data: tokens, error, refetch } = useQuery({ ...tokensQuery(projectId), enabled: isShown });
  const button = (
    <NewButton {...(projectId !== null && { needs: "tokens:write" })} ref={create} onClick={creation.open}>
      {tokenTexts.new}
    </NewButton>
  );
  return (
    <Page
      title={projectId === null ? tokenTexts.own : tokenTexts.heading}
      intro={projectId === null ? tokenTexts.ownIntro : tokenTexts.projectIntro}
      actions={button}
    >
      {!isShown && <Locked title={problemsTexts.forbidden}>{reason}</Locked>}
      {isShown && error && !tokens && <LoadFailed error={error} onRetry={refetch} />}
      {isShown && !tokens && !error && <RowsSkeleton rows={3} height={72} />}
      {isShown && tokens?.length === 0 && (
        <Empty icon={<IconLock size={22} />} title={tokenTexts.emptyHeading} text={tokenTexts.emptyText} />
      )}
      {isShown && tokens && tokens.length > 0 && (
        <ul className={classes.list} aria-label={tokenTexts.heading}>
          {tokens.map((each) => (
            <TokenRow
              key={each.id}
              projectId={projectId}
              environments={environments}
              token={each}
              onRevoked={() => create.current?.focus()}
            />
          ))}
        </ul>
      )}
      {projectId !== null && (
        <Unfold label={tokenTexts.changes} icon={<IconHistory size={15} />}>
          <ProjectChanges projectId={projectId} resource="token" />
        </Unfold>
      )}
      <NewTokenDialog {...place} {...creation.props} />
    </Page>
  );
}
