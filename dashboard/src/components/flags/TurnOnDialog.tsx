/** Asks before a flag is turned on in a critical environment, with the number of users whose result that changes. */

import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { FlagPath } from "../../api/client";
import { impactQuery } from "../../api/explain";
import { flagQuery } from "../../api/flags";
import { lineOf } from "../../api/problem";
import { rulesQuery } from "../../api/rules";
import { impactInWords } from "../../lib/impact";
import type { TurningOn } from "../../lib/turningOn";
import type { DialogProps } from "../../lib/useDialog";
import { impact as texts } from "../../texts/impact";
import { turnOn } from "../../texts/turnOn";
import { ConfirmDialog } from "../shared/ConfirmDialog";

type Props = DialogProps & { readonly wanted: TurningOn };

export function TurnOnDialog({ wanted, ...dialog }: Props) {
  const confirm = () => {
    wanted.turnOn();
    dialog.onClose();
    return Promise.resolve();
  };
  return (
    <ConfirmDialog
      title={turnOn.heading(wanted.name, wanted.environment)}
      consequence={<Effect path={wanted.path} />}
      action={turnOn.action}
      onConfirm={confirm}
      {...dialog}
    />
  );
}

function Effect({ path }: { path: FlagPath }) {
  const flag = useQuery(flagQuery(path));
  const rules = useQuery(rulesQuery(path));
  const draft = flag.data && rules.data && JSON.stringify({ ...flag.data, enabled: true, rules: rules.data });
  const impact = useQuery({ ...impactQuery(path, draft ?? ""), enabled: draft !== undefined });
  const error = flag.error ?? rules.error ?? impact.error;
  return (
    <>
      {turnOn.text}
      <Text size="sm" c="dimmed" mt="xs" role="status">
        {impact.data ? impactInWords(impact.data) : error ? turnOn.notCounted(lineOf(error)) : texts.asking}
      </Text>
    </>
  );
}
