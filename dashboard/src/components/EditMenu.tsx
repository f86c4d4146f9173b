/** A menu for editing and deleting a resource. */

import { ActionIcon, type ActionIconProps, Menu } from "@mantine/core";
import { useRef } from "react";
import { t } from "../texts";
import { FirstFocus } from "./FirstFocus";
import { IconDots, IconPencil, IconTrash } from "./icons";

interface Props extends ActionIconProps {
  readonly label: string;
  readonly deleteText?: string;
  readonly onEdit: () => void;
  readonly onDelete: () => void;
}

export function EditMenu({ label, deleteText = t.delete, onEdit, onDelete, ...button }: Props) {
  const opener = useRef<HTMLButtonElement>(null);
  // A dialog returns the focus to the element that had it, which must not be an entry of a menu that has closed.
  const from = (open: () => void) => () => {
    opener.current?.focus();
    open();
  };
  return (
    <Menu position="bottom-end" width={160} shadow="md">
      <Menu.Target>
        <ActionIcon ref={opener} variant="subtle" color="gray" aria-label={label} {...button}>
          <IconDots />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <FirstFocus />
        <Menu.Item leftSection={<IconPencil size={16} />} onClick={from(onEdit)}>
          {t.edit}
        </Menu.Item>
        <Menu.Item leftSection={<IconTrash size={16} />} c="var(--mantine-color-error)" onClick={from(onDelete)}>
          {deleteText}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
