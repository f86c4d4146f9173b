/** Shows whether applications use the SDK key that replaces another one, and offers to revoke the old one. */

import { Alert, Button, Group, Modal, Stack, Text, Title } from "@mantine/core";
import type { Environment } from "../../api/client";
import type { SdkKey } from "./sdkKeysCalls";
import { lastUseOf } from "./callers";
import type { DialogProps } from "../../ui/useDialog";
import { rotation as texts } from "./sdkKeysTexts";
import { When, useNow } from "../../ui/When";
import { KeyUse, useKeyCallers } from "./KeyUse";

const DAY_MILLISECONDS = 86_400_000;

interface Props extends DialogProps {
  readonly projectId: string;
  readonly environment: Environment | undefined;
  readonly oldKey: SdkKey;
  readonly newKey: SdkKey;
  readonly onRevoke: () => void;
}

export function ReplacedKeyDialog({ opened, onClose, ...rest }: Props) {
  return (
    <Modal title={texts.moveHeading(rest.oldKey.name)} size={600} opened={opened} onClose={onClose}>
      <Rotation {...rest} onClose={onClose} />
    </Modal>
  );
}

function Rotation({ projectId, environment, oldKey, newKey, onClose, onRevoke }: Omit<Props, "opened">) {
  const place = { projectId, environment };
  return (
    <Stack gap="md">
      <Text>{texts.moveText}</Text>
      <section aria-label={texts.newKey}>
        <Title order={3} size="h4">
          {texts.named(texts.newKey, newKey.hint)}
        </Title>
        <KeyUse {...place} sdkKey={newKey} />
      </section>
      <section aria-label={texts.oldKey}>
        <Title order={3} size="h4">
          {texts.named(texts.oldKey, oldKey.hint)}
        </Title>
        <KeyUse {...place} sdkKey={oldKey} />
      </section>
      <Verdict {...place} sdkKey={oldKey} />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose} data-autofocus>
          {texts.later}
        </Button>
        <Button color="alarm.7" onClick={onRevoke}>
          {texts.revokeOld}
        </Button>
      </Group>
    </Stack>
  );
}

/** Whether the old key can be revoked. */
function Verdict(props: { projectId: string; environment: Environment | undefined; sdkKey: SdkKey }) {
  const now = useNow();
  const last = lastUseOf(props.sdkKey, useKeyCallers(props).data);
  const isUsed = last !== null && now - Date.parse(last) < DAY_MILLISECONDS;
  return (
    <Alert role="status" color={isUsed ? "alarm" : "live"} variant="light" py="xs">
      {isUsed ? (
        <>
          {texts.stillUsed} <When at={last} />. {texts.stillUsedText}
        </>
      ) : (
        texts.unused
      )}
    </Alert>
  );
}
