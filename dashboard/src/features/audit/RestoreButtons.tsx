import { Button, Group } from "@mantine/core";
import { common } from "../../ui/commonTexts";

interface Props {
  readonly label: string;
  readonly busy: boolean;
  readonly disabled: boolean;
  /** Whether nothing can be put back. */
  readonly isRefused: boolean;
  readonly onClose: () => void;
}

/** The buttons of a dialog that puts back what it shows. */
export function RestoreButtons({ label, busy, disabled, isRefused, onClose }: Props) {
  return (
    <Group justify="flex-end" gap="xs">
      <Button variant="default" onClick={onClose} data-autofocus>
        {isRefused ? common.close : common.cancel}
      </Button>
      {!isRefused && (
        <Button type="submit" loading={busy} disabled={disabled}>
          {label}
        </Button>
      )}
    </Group>
  );
}
