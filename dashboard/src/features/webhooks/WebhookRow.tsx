/** A webhook in the list: its URL, its events and the state of its deliveries. */

import { Badge, Group, Modal } from "@mantine/core";
import type { Environment } from "../../api/client";
import {
  useDeleteWebhook,
  useRotateSecret,
  useTestWebhook,
  type Place,
  useUpdateWebhook,
  type Webhook,
  type WebhookWithSecret,
} from "./webhooksCalls";
import { notifyDone, notifyRefused } from "../../api/notify";
import { useDialog } from "../../ui/useDialog";
import { draftOf, hostOf, webhookOf } from "./webhookDrafts";
import { common } from "../../ui/commonTexts";
import { webhooks as texts } from "./webhooksTexts";
import classes from "../../ui/ListRows.module.css";
import { ConfirmDialog, DeleteDialog } from "../../ui/ConfirmDialog";
import { EditMenu } from "../../ui/EditMenu";
import { GuardedButton } from "../../ui/GuardedButton";
import { IconHistory } from "../../ui/icons";
import { Unfold } from "../../ui/Unfold";
import { When } from "../../ui/When";
import { Deliveries } from "./Deliveries";
import { WebhookForm } from "./WebhookForm";
import { visibleProse } from "../../ui/givenText";

interface Props {
  readonly place: Place;
  readonly environments: readonly Environment[];
  readonly webhook: Webhook;
  readonly onDeleted: () => void;
  readonly onRotated: (webhook: WebhookWithSecret) => void;
}

/** For a project. Everyone who sees the page of the instance may do everything there. */
const NEEDS = "webhooks:write";

export function WebhookRow({ place, environments, webhook, onDeleted, onRotated }: Props) {
  const edit = useDialog();
  const deletion = useDialog();
  const rotation = useDialog();
  const { mutateAsync: update, isPending } = useUpdateWebhook(place);
  const { mutateAsync: remove } = useDeleteWebhook(place);
  const { mutateAsync: rotate } = useRotateSecret(place);
  const { mutateAsync: send, isPending: isSending } = useTestWebhook(place);
  const host = hostOf(webhook);
  const target = { projectId: place ?? "", id: webhook.id, resource: configurationOf(webhook) };
  const tag = `"${webhook.updated_at}"`;
  const test = () =>
    send(webhook.id).then(
      () => notifyDone(texts.tested),
      (error: unknown) => notifyRefused(texts.test, error),
    );
  const turn = () =>
    update({ id: webhook.id, enabled: !webhook.enabled, tag }).catch((error: unknown) =>
      notifyRefused(webhook.enabled ? texts.turnOff : texts.turnOn, error),
    );
  return (
    <li className={classes.row}>
      <div className={classes.label}>
        <span className={classes.name}>{host}</span>{" "}
        <Badge variant="default">{texts.formatNames[webhook.format]}</Badge> <Health webhook={webhook} />
        {webhook.description !== null && (
          <span className={classes.details} dir="auto">
            {visibleProse(webhook.description)}
          </span>
        )}
        <span className={classes.details}>{wantsInWords(webhook, environments)}</span>
        <span className={classes.details}>
          <LastAttempt webhook={webhook} />
          {webhook.waiting > 0 && ` · ${texts.waiting(webhook.waiting)}`}
          {webhook.dropped > 0 && ` · ${texts.dropped(webhook.dropped)}`}
        </span>
      </div>
      <Group gap="xs">
        <GuardedButton
          needs={NEEDS}
          variant="default"
          size="compact-sm"
          label={texts.testOf(host)}
          loading={isSending}
          onClick={() => void test()}
        >
          {texts.test}
        </GuardedButton>
        <GuardedButton
          needs={NEEDS}
          variant="default"
          size="compact-sm"
          label={webhook.enabled ? texts.turnOffOf(host) : texts.turnOnOf(host)}
          loading={isPending}
          onClick={() => void turn()}
        >
          {webhook.enabled ? texts.turnOff : texts.turnOn}
        </GuardedButton>
        <GuardedButton needs={NEEDS} variant="default" size="compact-sm" onClick={rotation.open}>
          {texts.rotate}
        </GuardedButton>
        <EditMenu label={texts.actions(host)} needs={NEEDS} onEdit={edit.open} onDelete={deletion.open} />
      </Group>
      <div style={{ flexBasis: "100%" }}>
        <Unfold label={texts.deliveries} icon={<IconHistory size={15} />}>
          <Deliveries place={place} webhook={webhook} />
        </Unfold>
      </div>
      <Modal title={texts.edit(host)} size={600} yOffset="6vh" {...edit.props}>
        <WebhookForm
          place={place}
          initial={draftOf(webhook)}
          environments={environments}
          action={common.save}
          onClose={edit.props.onClose}
          onSubmit={async (draft) => {
            const { enabled: _, ...fields } = webhookOf(draft);
            await update({ id: webhook.id, ...fields, tag });
            edit.props.onClose();
          }}
        />
      </Modal>
      <ConfirmDialog
        title={texts.rotateHeading(host)}
        consequence={texts.rotateText}
        action={texts.rotate}
        onConfirm={async () => {
          const rotated = await rotate(webhook.id);
          rotation.props.onClose();
          onRotated(rotated);
        }}
        {...rotation.props}
      />
      <DeleteDialog
        name={host}
        consequence={texts.deleteText}
        of={target}
        onDelete={async (shown) => {
          await remove({ id: webhook.id, tag: shown });
          onDeleted();
        }}
        {...deletion.props}
      />
    </li>
  );
}

function Health({ webhook }: { webhook: Webhook }) {
  if (webhook.disabled_reason !== null) return <Badge color="alarm.8">{texts.reasons[webhook.disabled_reason]}</Badge>;
  if (!webhook.enabled) return <Badge variant="default">{texts.off}</Badge>;
  const isFailing = webhook.waiting > 0 && webhook.last_attempt_at !== null && !isAccepted(webhook.last_status);
  return isFailing ? <Badge color="yellow.9">{texts.failing}</Badge> : <Badge color="live.8">{texts.on}</Badge>;
}

function LastAttempt({ webhook }: { webhook: Webhook }) {
  if (webhook.last_attempt_at === null) return texts.neverSent;
  return (
    <>
      {texts.lastAttempt} <When at={webhook.last_attempt_at} />:{" "}
      {webhook.last_status === null ? webhook.last_error : texts.answered(webhook.last_status)}
    </>
  );
}

function isAccepted(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}

function wantsInWords(webhook: Webhook, environments: readonly Environment[]): string {
  const events = webhook.events.includes("*") ? texts.all : webhook.events.join(", ");
  const named = webhook.environments?.map((key) => environments.find((each) => each.key === key)?.name ?? key);
  return [events, named?.join(", ") ?? texts.inAll, ...(webhook.tags ?? []).map((tag) => `#${tag}`)].join(" · ");
}

/** The fields that people edit, without the state of deliveries, which changes by itself. */
function configurationOf({ id, url, events, environments, tags, format, description, enabled, updated_at }: Webhook) {
  return { id, url, events, environments, tags, format, description, enabled, updated_at };
}
