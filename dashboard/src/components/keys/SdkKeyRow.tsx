/** An SDK key in the list: where it is used, how long it works and when it was used. Its secret is not known. */

import { Badge } from "@mantine/core";
import type { Environment } from "../../api/client";
import { type SdkKey, useRevokeSdkKey } from "../../api/sdkKeys";
import { expiryOf } from "../../lib/expiry";
import { inFull } from "../../lib/time";
import { useDialog } from "../../lib/useDialog";
import { tokens as tokenTexts } from "../../texts/tokens";
import { sdkKeys as texts } from "../../texts/sdkKeys";
import { ConfirmDialog } from "../shared/ConfirmDialog";
import { GuardedButton } from "../shared/GuardedButton";
import { KeyUse } from "./KeyUse";
import classes from "../projects/Members.module.css";
import { useNow, When } from "../shared/When";

interface Props {
  readonly projectId: string;
  /** Of the key; undefined if it has just been deleted. */
  readonly environment: Environment | undefined;
  readonly sdkKey: SdkKey;
  readonly onRevoked: () => void;
}

export function SdkKeyRow({ projectId, environment, sdkKey, onRevoked }: Props) {
  const revocation = useDialog();
  const expiry = expiryOf(sdkKey, useNow());
  const { mutateAsync: revoke } = useRevokeSdkKey(projectId);
  const revokeIt = async () => {
    await revoke(sdkKey.id);
    onRevoked();
  };
  return (
    <li className={classes.row}>
      <div className={classes.who}>
        <span className={classes.email}>{sdkKey.name}</span> <Badge variant="default">{texts.kinds[sdkKey.kind]}</Badge>{" "}
        {expiry === "expired" && <Badge color="alarm.8">{tokenTexts.expired}</Badge>}
        {expiry === "soon" && <Badge color="yellow.9">{tokenTexts.expiresSoon}</Badge>}
        <span className={classes.roles}>
          {texts.in(environment?.name ?? sdkKey.environment)} · {texts.hint(sdkKey.hint)} ·{" "}
          {expiryInWords(sdkKey, expiry === "expired")}
        </span>
        <span className={classes.roles}>
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
      </div>
      <GuardedButton
        needs="keys:rotate"
        within={environment}
        variant="default"
        size="compact-sm"
        label={tokenTexts.revokeOf(sdkKey.name)}
        onClick={revocation.open}
      >
        {tokenTexts.revoke}
      </GuardedButton>
      <ConfirmDialog
        title={tokenTexts.revokeHeading(sdkKey.name)}
        consequence={
          expiry === "expired" ? texts.revokeExpiredText : <KeyUse {...{ projectId, environment, sdkKey }} />
        }
        action={tokenTexts.revoke}
        onConfirm={revokeIt}
        {...revocation.props}
      />
    </li>
  );
}

function expiryInWords({ expires_at: at }: SdkKey, hasExpired: boolean): string {
  if (at === null) return tokenTexts.expiresNever;
  return hasExpired ? tokenTexts.expiredOn(inFull(at)) : tokenTexts.expiresOn(inFull(at));
}
