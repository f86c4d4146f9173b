/** Why a form was refused, where no field is to blame. Announced as it appears. */

import { Alert } from "@mantine/core";
import { IconAlertCircle } from "@tabler/icons-react";

export function Refusal({ text }: { text: string | null }) {
  if (text === null) return null;
  return (
    <Alert role="alert" color="alarm" variant="light" icon={<IconAlertCircle />} py="xs">
      {text}
    </Alert>
  );
}
