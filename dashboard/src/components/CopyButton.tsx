/** Copies a text and says so, to the eye and to the ear. */

import { ActionIcon, Button, type ButtonProps, CopyButton as Copying, Tooltip, VisuallyHidden } from "@mantine/core";
import { IconCheck, IconCopy } from "./icons";
import { t } from "../texts";

interface Props {
  readonly text: string;
  readonly label?: string;
}

export function CopyIcon({ text, label = t.copy }: Props) {
  return (
    <Copying value={text} timeout={1500}>
      {({ copied, copy }) => (
        <>
          <Tooltip label={copied ? t.copied : label} openDelay={0}>
            <ActionIcon variant="subtle" color={copied ? "live" : "gray"} onClick={copy} aria-label={label}>
              {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
            </ActionIcon>
          </Tooltip>
          <VisuallyHidden role="status">{copied ? t.copied : ""}</VisuallyHidden>
        </>
      )}
    </Copying>
  );
}

export function CopyButton({ text, label = t.copy, ...rest }: Props & ButtonProps) {
  return (
    <Copying value={text} timeout={1500}>
      {({ copied, copy }) => (
        <>
          <Button
            variant="default"
            size="xs"
            leftSection={copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
            onClick={copy}
            {...rest}
          >
            {label}
          </Button>
          <VisuallyHidden role="status">{copied ? t.copied : ""}</VisuallyHidden>
        </>
      )}
    </Copying>
  );
}
