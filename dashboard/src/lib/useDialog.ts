/** The state of a dialog, as the dialog components expect it. */

import { useDisclosure } from "@mantine/hooks";

export interface DialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function useDialog() {
  const [opened, { open, close }] = useDisclosure(false);
  return { open, props: { opened, onClose: close } };
}
