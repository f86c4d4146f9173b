/** A button in the header that shows the selection and opens a menu with the other choices. */

import { Menu, UnstyledButton } from "@mantine/core";
import { MenuFocus } from "./MenuFocus";
import { IconSelector } from "./icons";
import type { ReactNode } from "react";
import classes from "./HeaderMenu.module.css";

interface Props {
  readonly label: string;
  readonly current: ReactNode;
  readonly children: ReactNode;
  readonly shrink?: boolean;
  /** Called before the menu can be opened, so that its content is loaded in time. */
  readonly onNear?: () => void;
}

export function HeaderMenu({ label, current, children, shrink = false, onNear }: Props) {
  return (
    <Menu position="bottom-start" width={260} shadow="md" radius="md">
      <Menu.Target>
        <UnstyledButton
          className={classes.button}
          data-shrink={shrink || undefined}
          aria-label={label}
          onPointerEnter={onNear}
          onFocus={onNear}
        >
          {current}
          <IconSelector size={14} className={classes.chevron} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown mah="70vh" className={classes.dropdown}>
        <MenuFocus />
        {children}
      </Menu.Dropdown>
    </Menu>
  );
}
