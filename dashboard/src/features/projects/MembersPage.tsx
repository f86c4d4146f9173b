/** The members of a project with their roles, the invitations, and what the signed-in account may do. */

import { Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazy, useRef } from "react";
import { invitationsQuery } from "./invitationsCalls";
import { membersQuery, permissionsQuery } from "../../api/members";
import { IconGroup, IconHistory, IconLock } from "../../ui/icons";
import { InvitationRow } from "./InvitationRow";
import { InviteDialog } from "./MemberDialogs";
import { MemberRow } from "./MemberRow";
import classes from "../../ui/ListRows.module.css";
import { OwnPermissions, RolePermissions } from "./PermissionTables";
import { Page } from "../../ui/Page";
import { RowsSkeleton } from "../../ui/PageSkeleton";
import { LoadFailed } from "../../ui/ProblemPage";
import { Unfold } from "../../ui/Unfold";
import { currentSession } from "../../api/session";
import { useDialog } from "../../ui/useDialog";
import { useEnvironments, useProject } from "../../ui/useHere";
import { members as memberTexts } from "./membersTexts";
import { NewButton } from "../../ui/NewButton";

const ProjectChanges = lazy(() => import("../audit/ProjectChanges"));

export function MembersPage() {
  const { id: projectId } = useProject();
  const environments = useEnvironments();
  const invite = useRef<HTMLButtonElement>(null);
  const inviting = useDialog();
  const { data: members, error, refetch } = useQuery(membersQuery(projectId));
  const { data: invitations } = useQuery(invitationsQuery(projectId));
  const { data: own } = useQuery(permissionsQuery(projectId));
  const email = currentSession()?.email.toLowerCase();
  const self = members?.find((each) => each.email.toLowerCase() === email);
  const focusInvite = () => invite.current?.focus();
  const button = (
    <NewButton ref={invite} needs="members:write" onClick={inviting.open}>
      {memberTexts.invite}
    </NewButton>
  );
  return (
    <Page title={memberTexts.heading} intro={memberTexts.intro} actions={button}>
      {error && !members && <LoadFailed error={error} onRetry={refetch} />}
      {!members && !error && <RowsSkeleton rows={3} height={56} />}
      {members && (
        <ul className={classes.list} aria-label={memberTexts.heading}>
          {members.map((each) => (
            <MemberRow
              key={each.account_id}
              projectId={projectId}
              environments={environments}
              member={each}
              self={self}
              own={own}
              onRemoved={focusInvite}
            />
          ))}
        </ul>
      )}
      <Stack gap="xs" mt="xl">
        <Title order={2}>{memberTexts.invitations}</Title>
        {invitations?.length === 0 && <Text c="dimmed">{memberTexts.invitationsNone}</Text>}
        {invitations && invitations.length > 0 && (
          <ul className={classes.list} aria-label={memberTexts.invitations}>
            {invitations.map((each) => (
              <InvitationRow key={each.id} projectId={projectId} invitation={each} onRevoked={focusInvite} />
            ))}
          </ul>
        )}
      </Stack>
      {own && (
        <>
          <Unfold label={memberTexts.own} icon={<IconLock size={15} />}>
            <OwnPermissions own={own} environments={environments} />
          </Unfold>
          <Unfold label={memberTexts.matrix} icon={<IconGroup size={15} />}>
            <RolePermissions own={own} />
          </Unfold>
        </>
      )}
      <Unfold label={memberTexts.changes} icon={<IconHistory size={15} />}>
        <ProjectChanges projectId={projectId} resource="member" />
      </Unfold>
      <InviteDialog
        projectId={projectId}
        environments={environments}
        mayMakeOwners={own?.permissions.includes("owners:write") ?? false}
        {...inviting.props}
      />
    </Page>
  );
}
