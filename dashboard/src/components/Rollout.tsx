/** The rollout, which decides if no rule matches. Its percentage is shown here but can be set only through the API. */

import { Collapse, Group, NumberInput, Stack, Text, UnstyledButton } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useState } from "react";
import type { Flag, FlagPath } from "../api/client";
import { currentSession } from "../lib/session";
import { rolloutCommand } from "../lib/snippets";
import { t } from "../texts";
import { CodeBlock } from "./CodeBlock";
import { CopyButton } from "./CopyButton";
import { IconTerminal } from "./icons";
import classes from "./RuleList.module.css";

interface Props {
  readonly path: FlagPath;
  readonly flag: Flag;
  readonly hasRules: boolean;
}

export function Rollout({ path, flag, hasRules }: Props) {
  const percentage = flag.rollout_percentage;
  const audience = percentage === 0 ? t.rules.everyone : t.rules.rollout(percentage);
  return (
    <div className={classes.rollout}>
      <Text>{hasRules ? t.rules.otherwise(audience) : audience}</Text>
      {percentage > 0 && (
        <div className={classes.bar} aria-hidden>
          <div className={classes.filled} style={{ width: `${percentage}%` }} />
        </div>
      )}
      <Text size="xs" c="dimmed">
        {percentage === 0 ? t.rules.everyoneNote : t.rules.rolloutNote}
      </Text>
      <RolloutCommand path={path} flag={flag} />
    </div>
  );
}

function RolloutCommand({ path, flag }: Pick<Props, "path" | "flag">) {
  const [opened, { toggle }] = useDisclosure(false);
  const [percentage, setPercentage] = useState(Math.min(100, flag.rollout_percentage + 10));
  const command = (token: string | null) => rolloutCommand(window.location.origin, path, percentage, token);
  return (
    <div className={classes.command}>
      <UnstyledButton onClick={toggle} aria-expanded={opened} className={classes.disclosure}>
        <Group gap={6} wrap="nowrap">
          <IconTerminal size={15} />
          {t.rules.setRollout}
        </Group>
      </UnstyledButton>
      <Collapse expanded={opened}>
        <Stack gap="xs" mt="xs">
          <Text size="sm" c="dimmed">
            {t.rules.setRolloutText}
          </Text>
          <CodeBlock code={command(null)} label={t.rules.setRollout} />
          <Group gap="sm" align="flex-end">
            <NumberInput
              label={t.rules.percentage}
              size="xs"
              w={150}
              min={0}
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
