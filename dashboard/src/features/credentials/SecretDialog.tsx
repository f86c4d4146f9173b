/** Creates something with a secret, and then shows the secret, once, with a call that uses it. */

import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { DialogProps } from "../../ui/useDialog";
import { tokens as tokenTexts } from "./tokensTexts";
import { CodeBlock } from "../../ui/CodeBlock";
import { CopyButton } from "../../ui/CopyButton";

interface Secret {
  readonly heading: string;
  readonly text: string;
  readonly label: string;
  readonly copy: string;
  readonly secret: string;
  readonly command: string;
  /** The label of the button that closes the dialog. */
  readonly done?: string;
}

interface Props<Created> extends DialogProps {
  readonly title: string;
  /** Left out if the secret is there already, as `initial`. */
  readonly form?: (onCreated: (created: Created) => void, onClose: () => void) => ReactNode;
  readonly initial?: Created | null;
  readonly secretOf: (created: Created) => Secret;
}

export function SecretDialog<Created>({ opened, onClose, title, form, initial = null, secretOf }: Props<Created>) {
  const [created, setCreated] = useState<Created | null>(null);
  const shown = created ?? initial;
  const secret = shown && secretOf(shown);
  const close = () => {
    setCreated(null);
    onClose();
  };
  return (
    <Modal
      title={secret ? secret.heading : title}
      size={600}
      yOffset="6vh"
      opened={opened}
      onClose={close}
      closeOnClickOutside={secret === null}
      closeOnEscape={secret === null}
      withCloseButton={secret === null}
    >
      {secret ? <Shown {...secret} onClose={close} /> : form?.(setCreated, close)}
    </Modal>
  );
}

function Shown({ text, label, copy, secret, command, done, onClose }: Secret & { readonly onClose: () => void }) {
  const start = useRef<HTMLParagraphElement>(null);
  useEffect(() => start.current?.focus(), []); // the pressed button has disappeared
  return (
    <Stack gap="sm">
      <Text ref={start} tabIndex={-1} className="break">
        {text}
      </Text>
      <section aria-label={label}>
        <Text component="code" className="mono break">
          {secret}
        </Text>
      </section>
      <Group>
        <CopyButton text={secret} label={copy} />
      </Group>
      <Text size="sm">{tokenTexts.tryIt}</Text>
      <CodeBlock code={command} label={tokenTexts.tryIt} language="bash" />
      <Group justify="flex-end">
        <Button onClick={onClose}>{done ?? tokenTexts.done}</Button>
      </Group>
    </Stack>
  );
}
