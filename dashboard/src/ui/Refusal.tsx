/** A form's error that belongs to no field. Screen readers announce it when it appears. */

import { Alert } from "@mantine/core";
import { IconAlert } from "./icons";

export function Refusal({ text }: { text: string | null }) {
  if (text === null) return null;
  return (
    <Alert role="alert" color="alarm" variant="light" icon={<IconAlert />} py="xs">
      {text}
    </Alert>
  );
}
