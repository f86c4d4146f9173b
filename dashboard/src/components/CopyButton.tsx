/** Copies a text and says so, to the eye and to the ear. */

import { Button, type ButtonProps, CopyButton as Copying, VisuallyHidden } from "@mantine/core";
import { IconButton } from "./IconButton";
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
          <IconButton hint={copied ? t.copied : label} label={label} color={copied ? "live" : "gray"} onClick={copy}>
            {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
          </IconButton>
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
