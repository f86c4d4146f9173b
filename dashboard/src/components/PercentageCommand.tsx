/** The call that sets a percentage, which the dashboard cannot do. */

import { Collapse, Group, NumberInput, Stack, Text, UnstyledButton } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useState } from "react";
import type { FlagPath } from "../api/client";
import { currentSession } from "../lib/session";
import { rolloutCommand } from "../lib/snippets";
import { t } from "../texts";
import { CodeBlock } from "./CodeBlock";
import { CopyButton } from "./CopyButton";
import { IconTerminal } from "./icons";
import classes from "./RuleList.module.css";

interface Props {
  /** Of the flag, or of one of its rules. */
  readonly path: FlagPath & { readonly rule_id?: string };
  readonly label: string;
  readonly text: string;
  readonly start: number;
  readonly min: number;
}

export function PercentageCommand({ path, label, text, start, min }: Props) {
  const [opened, { toggle }] = useDisclosure(false);
  const [percentage, setPercentage] = useState(start);
  const command = (token: string | null) => rolloutCommand(window.location.origin, path, percentage, token);
  return (
    <div className={classes.command}>
      <UnstyledButton onClick={toggle} aria-expanded={opened} className={classes.disclosure}>
        <Group gap={6} wrap="nowrap">
          <IconTerminal size={15} />
          {label}
        </Group>
      </UnstyledButton>
      <Collapse expanded={opened}>
        <Stack gap="xs" mt="xs">
          <Text size="sm" c="dimmed">
            {text}
          </Text>
          <CodeBlock code={command(null)} label={label} />
          <Group gap="sm" align="flex-end">
            <NumberInput
              label={t.rules.percentage}
              size="xs"
              w={150}
              min={min}
              max={100}
              clampBehavior="strict"
              allowDecimal={false}
              value={percentage}
              onChange={(value) => setPercentage(Number(value))}
            />
            <CopyButton text={command(null)} label={t.rules.copyCommand} />
            <CopyButton text={command(currentSession()?.token ?? null)} label={t.rules.copyWithToken} />
          </Group>
          <Text size="xs" c="dimmed">
            {t.rules.tokenNote}
          </Text>
        </Stack>
      </Collapse>
    </div>
  );
}
