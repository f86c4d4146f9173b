/** A menu for editing and deleting a resource, which need the same permission. */

import { ActionIcon, type ActionIconProps, Menu } from "@mantine/core";
import { type ReactNode, useRef } from "react";
import { type Guarded, useGuard } from "./useGuard";
import { common } from "./commonTexts";
import { MenuFocus } from "./MenuFocus";
import { IconButton } from "./IconButton";
import { IconDots, IconPencil, IconTrash } from "./icons";

interface Props extends ActionIconProps, Guarded {
  readonly label: string;
  readonly editText?: string;
  readonly deleteText?: string;
  readonly deleteIcon?: ReactNode;
  /** More entries, between those for editing and deleting. */
  readonly more?: readonly { readonly text: string; readonly icon: ReactNode; readonly onClick: () => void }[];
  readonly onEdit: () => void;
  readonly onDelete: () => void;
}

export function EditMenu({
  label,
  editText = common.edit,
  deleteText = common.delete,
  deleteIcon,
  more = [],
  needs,
  within,
  onEdit,
  onDelete,
  ...button
}: Props) {
  const { reason, attributes } = useGuard({ needs, within });
  const opener = useRef<HTMLButtonElement>(null);
  // A dialog returns the focus to the element that had it, so this must not be an entry of a menu that has closed.
  const from = (open: () => void) => () => {
    opener.current?.focus();
    open();
  };
  if (reason !== null) {
    return (
      <IconButton hint={label} needs={needs} within={within} {...button}>
        <IconDots />
      </IconButton>
    );
  }
  return (
    <Menu position="bottom-end" width={more.length > 0 ? 210 : 160} shadow="md">
      <Menu.Target>
        <ActionIcon ref={opener} variant="subtle" color="gray" aria-label={label} {...attributes} {...button}>
          <IconDots />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <MenuFocus />
        <Menu.Item leftSection={<IconPencil size={16} />} onClick={from(onEdit)}>
          {editText}
        </Menu.Item>
        {more.map(({ text, icon, onClick }) => (
          <Menu.Item key={text} leftSection={icon} onClick={from(onClick)}>
            {text}
          </Menu.Item>
        ))}
        <Menu.Item
          leftSection={deleteIcon ?? <IconTrash size={16} />}
          c="var(--mantine-color-error)"
          onClick={from(onDelete)}
        >
          {deleteText}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
