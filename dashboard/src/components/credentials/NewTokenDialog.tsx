/** Creates an access token, and then shows its secret, once. */

import type { CreatedToken } from "../../api/tokens";
import { tokenCommand } from "../../lib/snippets";
import type { DialogProps } from "../../lib/hooks/useDialog";
import { tokens as tokenTexts } from "../../texts/tokens";
import { NewTokenForm, type TokenPlace } from "./NewTokenForm";
import { SecretDialog } from "./SecretDialog";
import { serverAddress } from "../../lib/server";

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
