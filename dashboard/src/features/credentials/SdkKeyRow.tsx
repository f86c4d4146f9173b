/** An SDK key in the list: where it is used, how long it works and when it was used. Its secret is not known. */

import { Badge, Group, Text } from "@mantine/core";
import type { Environment } from "../../api/client";
import { type SdkKey, useRevokeSdkKey } from "./sdkKeysCalls";
import { callerInWords, lastUseOf } from "./callers";
import { expiryOf } from "./expiry";
import { inFull } from "../../ui/time";
import { type DialogProps, useDialog } from "../../ui/useDialog";
import { common } from "../../ui/commonTexts";
import { tokens as tokenTexts } from "./tokensTexts";
import { rotation as rotationTexts, sdkKeys as texts } from "./sdkKeysTexts";
import { ConfirmDialog } from "../../ui/ConfirmDialog";
import { GuardedButton } from "../../ui/GuardedButton";
import { lateDialog } from "../../ui/lateDialog";
import { KeyUse, useKeyCallers } from "./KeyUse";
import { draftOfSdkKey } from "./sdkKeyDrafts";
import { ReplacedKeyDialog } from "./ReplacedKeyDialog";
import classes from "../../ui/ListRows.module.css";
import { useNow, When } from "../../ui/When";
import { Given } from "../../ui/Given";

const EditSdkKeyDialog = lateDialog(() => import("./EditSdkKeyDialog").then((module) => module.EditSdkKeyDialog));
const RotateDialog = lateDialog(() => import("./RotateDialog").then((module) => module.RotateDialog));

interface Props {
  readonly projectId: string;
  /** Of the key; undefined if it has just been deleted. */
  readonly environment: Environment | undefined;
  readonly sdkKey: SdkKey;
  /** The key that it replaces, if that still exists. */
  readonly replaced: SdkKey | undefined;
  readonly onRevoked: () => void;
}

export function SdkKeyRow({ projectId, environment, sdkKey, replaced, onRevoked }: Props) {
  const rotating = useDialog();
  const revocation = useDialog();
  const editing = useDialog(draftOfSdkKey(sdkKey));
  const expiry = expiryOf(sdkKey, useNow());
  const button = { needs: "keys:rotate", within: environment, variant: "default", size: "compact-sm" } as const;
  return (
    <li className={classes.row}>
      <div className={classes.label}>
        <span className={classes.name}>
          <Given text={sdkKey.name} />
        </span>{" "}
        <Badge variant="default">{texts.kinds[sdkKey.kind]}</Badge>{" "}
        {expiry === "expired" && <Badge color="alarm.8">{tokenTexts.expired}</Badge>}
        {expiry === "soon" && <Badge color="yellow.9">{tokenTexts.expiresSoon}</Badge>}
        <span className={classes.details}>
          {texts.in(environment?.name ?? sdkKey.environment)} · {texts.hint(sdkKey.hint)} ·{" "}
          {expiryInWords(sdkKey, expiry === "expired")}
        </span>
        {sdkKey.allowed_origins.length > 0 && (
          <span className={`${classes.details} break`}>{texts.onlyFrom(sdkKey.allowed_origins)}</span>
        )}
        <span className={classes.details}>
          {sdkKey.last_used_at === null ? (
            tokenTexts.neverUsed
          ) : (
            <>
              {tokenTexts.lastUsed} <When at={sdkKey.last_used_at} />
            </>
          )}{" "}
          · {sdkKey.created_by === null ? texts.createdByNobody : tokenTexts.createdBy(sdkKey.created_by)}{" "}
          <When at={sdkKey.created_at} />
        </span>
        {replaced && <Replaced {...{ projectId, environment, sdkKey, replaced, onRevoked }} />}
      </div>
      <Group gap="xs">
        {expiry !== "expired" && (
          <>
            <GuardedButton {...button} label={texts.edit(sdkKey.name)} onClick={editing.open}>
              {common.edit}
            </GuardedButton>
            <GuardedButton {...button} label={rotationTexts.rotateOf(sdkKey.name)} onClick={rotating.open}>
              {rotationTexts.rotate}
            </GuardedButton>
          </>
        )}
        <GuardedButton {...button} label={tokenTexts.revokeOf(sdkKey.name)} onClick={revocation.open}>
          {tokenTexts.revoke}
        </GuardedButton>
      </Group>
      <EditSdkKeyDialog {...{ projectId, sdkKey }} {...editing.props} />
      <RotateDialog {...{ projectId, environment, sdkKey }} onRevoke={revocation.open} {...rotating.props} />
      <RevokeDialog {...{ projectId, environment, sdkKey, onRevoked }} {...revocation.props} />
    </li>
  );
}

type RevokeProps = DialogProps & Omit<Props, "replaced">;

/** Says who uses a key, and revokes it. */
function RevokeDialog({ projectId, environment, sdkKey, onRevoked, ...dialog }: RevokeProps) {
  const hasExpired = expiryOf(sdkKey, useNow()) === "expired";
  const { mutateAsync: revoke } = useRevokeSdkKey(projectId);
  const revokeIt = async () => {
    await revoke(sdkKey.id);
    onRevoked();
  };
  const use = (
    <>
      <Text c="dimmed">{texts.hint(sdkKey.hint)}</Text>
      <KeyUse {...{ projectId, environment, sdkKey }} />
      <Text mt="xs">{texts.revokeText}</Text>
    </>
  );
  return (
    <ConfirmDialog
      title={tokenTexts.revokeHeading(sdkKey.name)}
      consequence={hasExpired ? texts.revokeExpiredText : use}
      action={tokenTexts.revoke}
      onConfirm={revokeIt}
      {...dialog}
    />
  );
}

/** The key that this one replaces, whether it is still in use, and a button that continues its rotation. */
function Replaced({ projectId, environment, sdkKey, replaced, onRevoked }: Props & { readonly replaced: SdkKey }) {
  const watching = useDialog();
  const revocation = useDialog();
  const { data } = useKeyCallers({ projectId, environment, sdkKey: replaced });
  const last = lastUseOf(replaced, data);
  const [caller] = data ?? [];
  return (
    <span className={classes.details}>
      {rotationTexts.replaces(replaced.name, replaced.hint)}{" "}
      {last === null ? (
        rotationTexts.wasNeverUsed
      ) : (
        <>
          {rotationTexts.wasUsed} <When at={last} />
          {caller && rotationTexts.by(callerInWords(caller))}
        </>
      )}
      .{" "}
      <GuardedButton
        needs="keys:rotate"
        within={environment}
        variant="subtle"
        size="compact-xs"
        label={rotationTexts.finishOf(sdkKey.name)}
        onClick={watching.open}
      >
        {rotationTexts.finish}
      </GuardedButton>
      <ReplacedKeyDialog
        {...{ projectId, environment }}
        oldKey={replaced}
        newKey={sdkKey}
        onRevoke={() => {
          watching.props.onClose();
          revocation.open();
        }}
        {...watching.props}
      />
      <RevokeDialog {...{ projectId, environment, onRevoked }} sdkKey={replaced} {...revocation.props} />
    </span>
  );
}

function expiryInWords({ expires_at: at }: SdkKey, hasExpired: boolean): string {
  if (at === null) return tokenTexts.expiresNever;
  return hasExpired ? tokenTexts.expiredOn(inFull(at)) : tokenTexts.expiresOn(inFull(at));
}
