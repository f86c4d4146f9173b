/** Whether a dialog is open, in the shape that dialogs take. */

import { useDisclosure } from "@mantine/hooks";

export interface DialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function useDialog() {
  const [opened, { open, close }] = useDisclosure(false);
  return { open, props: { opened, onClose: close } };
}
