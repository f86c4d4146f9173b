/** Asks before flags are turned on in a critical environment, with the number of users whose result that changes. */

import type { TurningOn } from "./turnOnRequest";
import type { DialogProps } from "../../ui/useDialog";
import { turnOn } from "./turnOnTexts";
import { ConfirmDialog } from "../../ui/ConfirmDialog";
import { TurnedOnUsers } from "./TurnedOnUsers";

type Props = DialogProps & { readonly wanted: TurningOn };

export function TurnOnDialog({ wanted, opened, onClose }: Props) {
  const { path = null, name = "", flags = [{ path, name }], environment } = wanted;
  const confirm = () => {
    wanted.turnOn();
    onClose();
    return Promise.resolve();
  };
  return (
    <ConfirmDialog
      title={turnOn.heading(flags[0]?.name ?? "", flags.length, environment)}
      consequence={
        <>
          {turnOn.text}
          <TurnedOnUsers flags={flags} />
        </>
      }
      action={turnOn.action}
      onConfirm={confirm}
      opened={opened}
      onClose={() => {
        onClose();
        wanted.cancel?.();
      }}
    />
  );
}
