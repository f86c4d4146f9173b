/** An access token in the list: what it allows, how long it works and when it was used. Its secret is not known. */

import { Badge } from "@mantine/core";
import type { Environment } from "../../api/client";
import { type AccessToken, useRevokeToken } from "./tokensCalls";
import { expiryOf } from "./expiry";
import { ALL_PERMISSIONS } from "../projects/permissions";
import { inFull } from "../../ui/time";
import { useDialog } from "../../ui/useDialog";
import { permissions as meanings } from "../projects/permissionsTexts";
import { tokens as tokenTexts } from "./tokensTexts";
import { ConfirmDialog } from "../../ui/ConfirmDialog";
import { GuardedButton } from "../../ui/GuardedButton";
import { LastUse } from "./KeyUse";
import classes from "../../ui/ListRows.module.css";
import { useNow, When } from "../../ui/When";
import { Given } from "../../ui/Given";

interface Props {
  readonly projectId: string | null;
  readonly environments: readonly Environment[];
  readonly token: AccessToken;
  readonly onRevoked: () => void;
}

export function TokenRow({ projectId, environments, token, onRevoked }: Props) {
  const revocation = useDialog();
  const expiry = expiryOf(token, useNow());
  const { mutateAsync: revoke } = useRevokeToken(projectId);
  const revokeIt = async () => {
    await revoke(token.id);
    onRevoked();
  };
  return (
    <li className={classes.row}>
      <div className={classes.label}>
        <span className={classes.name}>
          <Given text={token.name} />
        </span>{" "}
        {expiry === "expired" && <Badge color="alarm.8">{tokenTexts.expired}</Badge>}
        {expiry === "soon" && <Badge color="yellow.9">{tokenTexts.expiresSoon}</Badge>}
        <span className={classes.details}>{permissionsInWords(token)}</span>
        <span className={classes.details}>
          {(projectId !== null || token.environments !== null) &&
            `${environmentsInWords(token, projectId === null ? null : environments)} · `}
          {expiryInWords(token, expiry === "expired")} ·{" "}
          {token.last_used_at === null ? (
            tokenTexts.neverUsed
          ) : (
            <>
              {tokenTexts.lastUsed} <When at={token.last_used_at} />
            </>
          )}{" "}
          · {projectId === null ? tokenTexts.created : tokenTexts.createdBy(token.email)} <When at={token.created_at} />
        </span>
      </div>
      <GuardedButton
        {...(projectId !== null && { needs: "tokens:write" })}
        variant="default"
        size="compact-sm"
        label={tokenTexts.revokeOf(token.name)}
        onClick={revocation.open}
      >
        {tokenTexts.revoke}
      </GuardedButton>
      <ConfirmDialog
        title={tokenTexts.revokeHeading(token.name)}
        consequence={
          expiry === "expired" ? (
            tokenTexts.revokeExpiredText
          ) : (
            <>
              <LastUse at={token.last_used_at} />
              {tokenTexts.revokeText}
            </>
          )
        }
        action={tokenTexts.revoke}
        onConfirm={revokeIt}
        {...revocation.props}
      />
    </li>
  );
}

function permissionsInWords({ permissions }: AccessToken): string {
  if (permissions.length === 0) return tokenTexts.noPermissions;
  if (permissions.length === ALL_PERMISSIONS.length) return tokenTexts.allPermissions;
  return `${permissions.map((each) => meanings[each]).join(". ")}.`;
}

/** A personal token may be for environments of several projects, whose names are not at hand. */
function environmentsInWords({ environments: ids }: AccessToken, environments: readonly Environment[] | null): string {
  if (ids === null) return tokenTexts.everywhere;
  if (environments === null) return tokenTexts.inSomeEnvironments(ids.length);
  const names = environments.filter((each) => ids.includes(each.id)).map((each) => each.name);
  return names.length > 0 ? tokenTexts.inEnvironments(names.join(", ")) : tokenTexts.nowhere;
}

function expiryInWords({ expires_at: at }: AccessToken, hasExpired: boolean): string {
  if (at === null) return tokenTexts.expiresNever;
  return hasExpired ? tokenTexts.expiredOn(inFull(at)) : tokenTexts.expiresOn(inFull(at));
}
