/** The webhooks of a project or of the whole instance: the list, and the dialogs that make one and show its secret. */

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useRef, useState } from "react";
import type { Environment } from "../../api/client";
import { type Place, useCreateWebhook, webhooksQuery, type WebhookWithSecret } from "./webhooksCalls";
import { useDialog } from "../../ui/useDialog";
import { NEW_WEBHOOK, webhookOf } from "./webhookDrafts";
import { webhooks as texts } from "./webhooksTexts";
import { SecretDialog } from "../credentials/SecretDialog";
import classes from "../../ui/ListRows.module.css";
import { Empty } from "../../ui/Empty";
import { IconBroadcast } from "../../ui/icons";
import { Page } from "../../ui/Page";
import { RowsSkeleton } from "../../ui/PageSkeleton";
import { LoadFailed } from "../../ui/ProblemPage";
import { WebhookForm } from "./WebhookForm";
import { WebhookRow } from "./WebhookRow";
import { NewButton } from "../../ui/NewButton";
import { serverAddress } from "../../api/server";

interface Props {
  readonly place: Place;
  readonly intro: string;
  readonly environments: readonly Environment[];
  /** Whether the account may see them. */
  readonly isShown: boolean;
  readonly children?: ReactNode;
}

export function WebhookList({ place, intro, environments, isShown, children }: Props) {
  const create = useRef<HTMLButtonElement>(null);
  const creation = useDialog();
  const [rotated, setRotated] = useState<WebhookWithSecret | null>(null);
  const { mutateAsync: send } = useCreateWebhook(place);
  const { data: webhooks, error, refetch } = useQuery({ ...webhooksQuery(place), enabled: isShown });
  const button = (
    <NewButton needs="webhooks:write" ref={create} onClick={creation.open}>
      {texts.new}
    </NewButton>
  );
  return (
    <Page title={texts.heading} intro={intro} actions={button}>
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
              place={place}
              environments={environments}
              webhook={each}
              onDeleted={() => create.current?.focus()}
              onRotated={setRotated}
            />
          ))}
        </ul>
      )}
      {children}
      <SecretDialog<WebhookWithSecret>
        {...creation.props}
        title={texts.new}
        form={(onCreated, onClose) => (
          <WebhookForm
            place={place}
            initial={NEW_WEBHOOK}
            environments={environments}
            action={texts.create}
            onSubmit={async (draft) => onCreated(await send(webhookOf(draft)))}
            onClose={onClose}
          />
        )}
        secretOf={(webhook) => secretOf(place, webhook)}
      />
      <SecretDialog<WebhookWithSecret>
        opened={rotated !== null}
        onClose={() => setRotated(null)}
        title={texts.rotate}
        initial={rotated}
        secretOf={(webhook) => secretOf(place, webhook)}
      />
    </Page>
  );
}

/** The secret, and the call that sends a test message. */
function secretOf(place: Place, { id, secret }: WebhookWithSecret) {
  const at = place === null ? "/api/admin" : `/api/projects/${place}`;
  const url = `${serverAddress()}${at}/webhooks/${id}/test`;
  return {
    heading: texts.secretHeading,
    text: texts.secretText,
    label: texts.secretLabel,
    copy: texts.copySecret,
    secret,
    command: `curl -X POST ${url} \\\n  -H "Authorization: Bearer $FLAGSTAFF_TOKEN"`,
  };
}
