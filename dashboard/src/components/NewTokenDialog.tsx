/** Creates an access token, and then shows its secret, once. */

import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import type { CreatedToken } from "../api/tokens";
import { tokenCommand } from "../lib/snippets";
import type { DialogProps } from "../lib/useDialog";
import { t } from "../texts";
import { CodeBlock } from "./CodeBlock";
import { CopyButton } from "./CopyButton";
import { NewTokenForm, type TokenPlace } from "./NewTokenForm";

type Props = DialogProps & TokenPlace;

export function NewTokenDialog({ opened, onClose, ...place }: Props) {
  const [created, setCreated] = useState<CreatedToken | null>(null);
  const close = () => {
    setCreated(null);
    onClose();
  };
  return (
    <Modal
      title={created ? t.tokens.secretHeading : t.tokens.new}
      size={600}
      yOffset="6vh"
      opened={opened}
      onClose={close}
      closeOnClickOutside={created === null}
      closeOnEscape={created === null}
      withCloseButton={created === null}
    >
      {created ? (
        <Secret created={created} projectId={place.projectId} onClose={close} />
      ) : (
        <NewTokenForm {...place} onCreated={setCreated} onClose={close} />
      )}
    </Modal>
  );
}

interface SecretProps {
  readonly created: CreatedToken;
  readonly projectId: string | null;
  readonly onClose: () => void;
}

function Secret({ created, projectId, onClose }: SecretProps) {
  const text = useRef<HTMLParagraphElement>(null);
  useEffect(() => text.current?.focus(), []); // the pressed button has disappeared
  return (
    <Stack gap="sm">
      <Text ref={text} tabIndex={-1} className="break">
        {t.tokens.secretText(created.name)}
      </Text>
      <section aria-label={t.tokens.secretLabel}>
        <Text component="code" className="mono break">
          {created.token}
        </Text>
      </section>
      <Group>
        <CopyButton text={created.token} label={t.tokens.copySecret} />
      </Group>
      <Text size="sm">{t.tokens.tryIt}</Text>
      <CodeBlock code={tokenCommand(window.location.origin, projectId, created)} label={t.tokens.tryIt} />
      <Group justify="flex-end">
        <Button onClick={onClose}>{t.tokens.done}</Button>
      </Group>
    </Stack>
  );
}
