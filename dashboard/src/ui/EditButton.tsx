/** Opens the dialog for a part of a flag that may not exist yet. */

import { GuardedButton } from "./GuardedButton";
import { IconPencil, IconPlus } from "./icons";

interface Props {
  readonly exists: boolean;
  readonly label: string;
  readonly onClick: () => void;
}

export function EditButton({ exists, label, onClick }: Props) {
  const icon = exists ? <IconPencil size={14} /> : <IconPlus size={14} />;
  return (
    <GuardedButton needs="flags:write" variant="default" size="xs" leftSection={icon} onClick={onClick} flex="none">
      {label}
    </GuardedButton>
  );
}
