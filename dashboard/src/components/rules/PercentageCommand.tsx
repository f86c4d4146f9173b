/** The call that sets a percentage, which the dashboard cannot do. */

import { NumberInput } from "@mantine/core";
import { useState } from "react";
import type { FlagPath } from "../../api/client";
import { rolloutCommand } from "../../lib/snippets";
import { t } from "../../texts";
import { Command } from "../shared/Command";

interface Props {
  /** Of the flag, or of one of its rules. */
  readonly path: FlagPath & { readonly rule_id?: string };
  readonly label: string;
  readonly text: string;
  readonly start: number;
  readonly min: number;
}

export default function PercentageCommand({ path, label, text, start, min }: Props) {
  const [percentage, setPercentage] = useState<number | string>(start);
  return (
    <Command
      label={label}
      text={text}
      needs={path.rule_id === undefined ? "flags:write" : "rules:write"}
      command={(token) => rolloutCommand(window.location.origin, path, Number(percentage), token)}
    >
      <NumberInput
        label={t.rules.percentage}
        size="xs"
        w={150}
        min={min}
        max={100}
        clampBehavior="strict"
        allowDecimal={false}
        value={percentage}
        error={Number(percentage) === 0 && path.rule_id === undefined ? t.rules.percentageZero : undefined}
        onChange={setPercentage}
      />
    </Command>
  );
}
