/** The webhooks of a project: where changes are sent, and what came of it. */

import { useQuery } from "@tanstack/react-query";
import { lazy, useRef, useState } from "react";
import { permissionsQuery } from "../api/members";
import { useCreateWebhook, webhooksQuery, type WebhookWithSecret } from "../api/webhooks";
import { SecretDialog } from "../components/keys/SecretDialog";
import classes from "../components/projects/Members.module.css";
import { Empty } from "../components/shared/Empty";
import { GuardedButton } from "../components/shared/GuardedButton";
import { IconBroadcast, IconHistory, IconPlus } from "../components/shared/icons";
import { Page } from "../components/shared/Page";
import { RowsSkeleton } from "../components/shared/PageSkeleton";
import { LoadFailed, Locked } from "../components/shared/ProblemPage";
import { Unfold } from "../components/shared/Unfold";
import { WebhookForm } from "../components/webhooks/WebhookForm";
import { WebhookRow } from "../components/webhooks/WebhookRow";
import { reasonAgainst } from "../lib/roles";
import { useDialog } from "../lib/useDialog";
import { useEnvironments, useProject } from "../lib/useHere";
import { NEW_WEBHOOK, webhookOf } from "../lib/webhookDrafts";
import { t } from "../texts";
import { webhooks as texts } from "../texts/webhooks";

const ProjectChanges = lazy(() => import("../components/changes/ProjectChanges"));

export function Webhooks() {
  const project = useProject();
  const environments = useEnvironments();
  const { data: own } = useQuery(permissionsQuery(project.id));
  const create = useRef<HTMLButtonElement>(null);
  const creation = useDialog();
  const [rotated, setRotated] = useState<WebhookWithSecret | null>(null);
  const { mutateAsync: send } = useCreateWebhook(project.id);
  const reason = own && reasonAgainst(own, "keys:rotate");
  const isShown = own !== undefined && !reason;
  const { data: webhooks, error, refetch } = useQuery({ ...webhooksQuery(project.id), enabled: isShown });
  const button = (
    <GuardedButton
      needs="keys:rotate"
      ref={create}
      leftSection={<IconPlus size={16} />}
      onClick={creation.open}
      flex="none"
    >
      {texts.new}
    </GuardedButton>
  );
  return (
    <Page title={texts.heading} intro={texts.intro} actions={button}>
      {reason && <Locked title={t.problems.forbidden}>{reason}</Locked>}
      {isShown && error && !webhooks && <LoadFailed error={error} onRetry={refetch} />}
      {isShown && !webhooks && !error && <RowsSkeleton rows={3} height={72} />}
      {webhooks?.length === 0 && (
        <Empty icon={<IconBroadcast size={22} />} title={texts.emptyHeading} text={texts.emptyText} />
      )}
      {webhooks && webhooks.length > 0 && (
        <ul className={classes.list} aria-label={texts.heading}>
          {webhooks.map((each) => (
            <WebhookRow
              key={each.id}
              projectId={project.id}
              environments={environments}
              webhook={each}
              onDeleted={() => create.current?.focus()}
              onRotated={setRotated}
            />
          ))}
        </ul>
      )}
      {isShown && (
        <Unfold label={texts.changes} icon={<IconHistory size={15} />}>
          <ProjectChanges projectId={project.id} resource="webhook" />
        </Unfold>
      )}
      <SecretDialog<WebhookWithSecret>
        {...creation.props}
        title={texts.new}
        form={(onCreated, onClose) => (
          <WebhookForm
            initial={NEW_WEBHOOK}
            environments={environments}
            action={texts.create}
            onSubmit={async (draft) => onCreated(await send(webhookOf(draft)))}
            onClose={onClose}
          />
        )}
        secretOf={(webhook) => secretOf(project.id, webhook)}
      />
      <SecretDialog<WebhookWithSecret>
        opened={rotated !== null}
        onClose={() => setRotated(null)}
        title={texts.rotate}
        initial={rotated}
        secretOf={(webhook) => secretOf(project.id, webhook)}
      />
    </Page>
  );
}

/** The secret, and the call that sends a test message. */
function secretOf(projectId: string, { id, secret }: WebhookWithSecret) {
  const url = `${window.location.origin}/api/projects/${projectId}/webhooks/${id}/test`;
  return {
    heading: texts.secretHeading,
    text: texts.secretText,
    label: texts.secretLabel,
    copy: texts.copySecret,
    secret,
    command: `curl -X POST ${url} \\\n  -H "Authorization: Bearer $FLAGSTAFF_TOKEN"`,
  };
}
