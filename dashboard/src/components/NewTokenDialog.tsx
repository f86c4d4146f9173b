/** Creates an access token, and then shows its secret, once. */

import type { CreatedToken } from "../api/tokens";
import { tokenCommand } from "../lib/snippets";
import type { DialogProps } from "../lib/useDialog";
import { t } from "../texts";
import { NewTokenForm, type TokenPlace } from "./NewTokenForm";
import { SecretDialog } from "./SecretDialog";

export function NewTokenDialog({ opened, onClose, ...place }: DialogProps & TokenPlace) {
  return (
    <SecretDialog<CreatedToken>
      opened={opened}
      onClose={onClose}
      title={t.tokens.new}
      form={(onCreated, close) => <NewTokenForm {...place} onCreated={onCreated} onClose={close} />}
      secretOf={(created) => ({
        heading: t.tokens.secretHeading,
        text: t.tokens.secretText(created.name),
        label: t.tokens.secretLabel,
        copy: t.tokens.copySecret,
        secret: created.token,
        command: tokenCommand(window.location.origin, place.projectId, created),
      })}
    />
  );
}
