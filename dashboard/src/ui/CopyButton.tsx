/** Copies a text and confirms it, visually and to screen readers. */

import { type ButtonProps, VisuallyHidden } from "@mantine/core";
import { useCopying } from "./useCopying";
import type { Guarded } from "./useGuard";
import { common } from "./commonTexts";
import { GuardedButton } from "./GuardedButton";
import { IconButton } from "./IconButton";
import { IconCheck, IconCopy } from "./icons";

interface Props {
  readonly text: string;
  readonly label?: string;
}

export function CopyIcon({ text, label = common.copy }: Props) {
  const { copied, copy } = useCopying(text);
  return (
    <>
      <IconButton hint={copied ? common.copied : label} label={label} color={copied ? "live" : "gray"} onClick={copy}>
        {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
      </IconButton>
      <Told copied={copied} />
    </>
  );
}

export function CopyButton({ text, label = common.copy, ...rest }: Props & ButtonProps & Guarded) {
  const { copied, copy } = useCopying(text);
  const icon = copied ? <IconCheck size={14} /> : <IconCopy size={14} />;
  return (
    <>
      <GuardedButton variant="default" size="xs" leftSection={icon} onClick={copy} {...rest}>
        {label}
      </GuardedButton>
      <Told copied={copied} />
    </>
  );
}

function Told({ copied }: { copied: boolean }) {
  return <VisuallyHidden role="status">{copied ? common.copied : ""}</VisuallyHidden>;
}
