/** A call that the dashboard does not make, ready to copy: why it does not, the call, and the fields that shape it. */

import { Group, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { Permission } from "../api/members";
import type { CodeLanguage } from "./highlighting";
import { currentSession } from "../api/session";
import { common } from "./commonTexts";
import { CodeBlock } from "./CodeBlock";
import { CopyButton } from "./CopyButton";

interface Props {
  readonly label: string;
  readonly text: string;
  /** What the call requires. Without it, the call is not offered with the token of the session. */
  readonly needs: Permission;
  /** The call with a token; null stands for the variable that contains it. */
  readonly command: (token: string | null) => string;
  /** By default that of a shell. */
  readonly language?: CodeLanguage;
  readonly children: ReactNode;
  /** What the call would do. */
  readonly effect?: ReactNode;
}

export function Command({ label, text, needs, command, language = "bash", children, effect }: Props) {
  return (
    <Stack gap="xs" w="100%">
      <Text size="sm" c="dimmed">
        {text}
      </Text>
      <CodeBlock code={command(null)} label={label} language={language} />
      <Group gap="sm" align="flex-end">
        {children}
        <CopyButton text={command(null)} label={common.copyCommand} />
        <CopyButton text={command(currentSession()?.token ?? null)} label={common.copyWithToken} needs={needs} />
      </Group>
      {effect}
      <Text size="xs" c="dimmed">
        {common.tokenNote}
      </Text>
    </Stack>
  );
}
