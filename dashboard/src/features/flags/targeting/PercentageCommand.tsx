/** The call that sets a percentage, which the dashboard cannot do, and for how many users it would change the result. */

import { Button, Group, NumberInput } from "@mantine/core";
import { useState } from "react";
import type { FlagPath } from "../../../api/client";
import type { FlagDraft } from "../../explanations/explainCalls";
import { rolloutCommand } from "../../../ui/snippets";
import { rulesTexts } from "../flagsTexts";
import { Command } from "../../../ui/Command";
import { Impact } from "../../explanations/Impact";
import { serverAddress } from "../../../api/server";

const PRESETS = [5, 10, 25, 50, 100];

interface Props {
  /** Of the flag, or of one of its rules. */
  readonly path: FlagPath & { readonly rule_id?: string };
  readonly label: string;
  readonly text: string;
  readonly start: number;
  readonly min: number;
  /** The flag with another percentage. */
  readonly draftOf: (percentage: number) => FlagDraft;
  /** The percentage that is saved. */
  readonly saved: number;
}

export default function PercentageCommand({ path, label, text, start, min, draftOf, saved }: Props) {
  const [percentage, setPercentage] = useState<number | string>(start);
  const chosen = percentage === "" ? null : Number(percentage);
  return (
    <Command
      label={label}
      text={text}
      needs={path.rule_id === undefined ? "flags:write" : "rules:write"}
      effect={<Impact path={path} draft={chosen === null ? null : draftOf(chosen)} saved={draftOf(saved)} />}
      command={(token) => rolloutCommand(serverAddress(), path, Number(percentage), token)}
    >
      <NumberInput
        label={rulesTexts.percentage}
        size="xs"
        w={150}
        min={min}
        max={100}
        clampBehavior="strict"
        allowDecimal={false}
        value={percentage}
        error={Number(percentage) === 0 && path.rule_id === undefined ? rulesTexts.percentageZero : undefined}
        onChange={setPercentage}
      />
      <Group gap={4} role="group" aria-label={rulesTexts.presets}>
        {PRESETS.map((each) => (
          <Button
            key={each}
            size="xs"
            variant={each === chosen ? "filled" : "default"}
            aria-pressed={each === chosen}
            onClick={() => setPercentage(each)}
          >
            {`${each}%`}
          </Button>
        ))}
      </Group>
    </Command>
  );
}
