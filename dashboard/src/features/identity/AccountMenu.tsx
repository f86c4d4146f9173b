/** The account menu: the signed-in account, the appearance, and signing out. */

import { type MantineColorScheme, Menu, UnstyledButton, useMantineColorScheme } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { signOut } from "./accountsCalls";
import { ownAccountQuery } from "./ownAccountCalls";
import { currentSession } from "../../api/session";
import { hasDocs, serverAddress } from "../../api/server";
import { t } from "../../texts";
import { MenuFocus } from "../../ui/MenuFocus";
import { IconBook, IconLock, IconLogout, IconShield, IconTerminal } from "../../ui/icons";
import { MenuItemLink } from "../../ui/links";
import classes from "./AccountMenu.module.css";

export function AccountMenu() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const [isNear, setNear] = useState(false);
  const { data: own } = useQuery({ ...ownAccountQuery, enabled: isNear });
  const onNear = () => setNear(true);
  const email = currentSession()?.email ?? "";
  return (
    <Menu position="bottom-end" width={248} shadow="md" radius="md">
      <Menu.Target>
        <UnstyledButton
          className={classes.button}
          aria-label={t.shell.account}
          onPointerEnter={onNear}
          onFocus={onNear}
        >
          {email.slice(0, 1).toUpperCase()}
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <MenuFocus />
        <Menu.Label className={classes.who}>
          {t.shell.signedInAs}
          <span className={classes.email}>{email}</span>
        </Menu.Label>
        <Menu.Divider />
        <Menu.Label>{t.shell.scheme}</Menu.Label>
        <Menu.RadioGroup value={colorScheme} onChange={(scheme) => setColorScheme(scheme as MantineColorScheme)}>
          <Menu.RadioItem value="light">{t.shell.light}</Menu.RadioItem>
          <Menu.RadioItem value="dark">{t.shell.dark}</Menu.RadioItem>
          <Menu.RadioItem value="auto">{t.shell.system}</Menu.RadioItem>
        </Menu.RadioGroup>
        <Menu.Divider />
        {hasDocs() && (
          <Menu.Item
            component="a"
            href={`${serverAddress()}/docs`}
            target="_blank"
            leftSection={<IconBook size={16} />}
          >
            {t.shell.apiDocs}
          </Menu.Item>
        )}
        <Menu.Item
          component="a"
          href={`${serverAddress()}/third-party-notices.txt`}
          target="_blank"
          leftSection={<IconBook size={16} />}
        >
          {t.shell.licenses}
        </Menu.Item>
        <MenuItemLink to="/account" leftSection={<IconLock size={16} />}>
          {t.accounts.heading}
        </MenuItemLink>
        <MenuItemLink to="/account/tokens" leftSection={<IconTerminal size={16} />}>
          {t.shell.ownTokens}
        </MenuItemLink>
        {own?.administrator && (
          <MenuItemLink to="/admin/accounts" leftSection={<IconShield size={16} />}>
            {t.adminPages.heading}
          </MenuItemLink>
        )}
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => void signOut()}>
          {t.shell.signOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
