/** Creates an access token, and then shows its secret, once. */

import type { CreatedToken } from "./tokensCalls";
import { tokenCommand } from "../../ui/snippets";
import type { DialogProps } from "../../ui/useDialog";
import { tokens as tokenTexts } from "./tokensTexts";
import { NewTokenForm, type TokenPlace } from "./NewTokenForm";
import { SecretDialog } from "./SecretDialog";
import { serverAddress } from "../../api/server";

export function NewTokenDialog({ opened, onClose, ...place }: DialogProps & TokenPlace) {
  return (
    <SecretDialog<CreatedToken>
      opened={opened}
      onClose={onClose}
      title={tokenTexts.new}
      form={(onCreated, close) => <NewTokenForm {...place} onCreated={onCreated} onClose={close} />}
      secretOf={(created) => ({
        heading: tokenTexts.secretHeading,
        text: tokenTexts.secretText(created.name),
        label: tokenTexts.secretLabel,
        copy: tokenTexts.copySecret,
        secret: created.token,
        command: tokenCommand(serverAddress(), place.projectId, created),
      })}
    />
  );
}
