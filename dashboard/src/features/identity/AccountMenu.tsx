/** The account menu: the signed-in account, the appearance, and signing out. */

import { type MantineColorScheme, Menu, UnstyledButton, useMantineColorScheme } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { signOut } from "./accountsCalls";
import { ownAccountQuery } from "./ownAccountCalls";
import { currentSession } from "../../api/session";
import { hasDocs, serverAddress } from "../../api/server";
import { adminPagesTexts } from "../../ui/adminPagesTexts";
import { shellTexts } from "../../ui/shellTexts";
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
          aria-label={shellTexts.account}
          onPointerEnter={onNear}
          onFocus={onNear}
        >
          {email.slice(0, 1).toUpperCase()}
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <MenuFocus />
        <Menu.Label className={classes.who}>
          {shellTexts.signedInAs}
          <span className={classes.email}>{email}</span>
        </Menu.Label>
        <Menu.Divider />
        <Menu.Label>{shellTexts.scheme}</Menu.Label>
        <Menu.RadioGroup value={colorScheme} onChange={(scheme) => setColorScheme(scheme as MantineColorScheme)}>
          <Menu.RadioItem value="light">{shellTexts.light}</Menu.RadioItem>
          <Menu.RadioItem value="dark">{shellTexts.dark}</Menu.RadioItem>
          <Menu.RadioItem value="auto">{shellTexts.system}</Menu.RadioItem>
        </Menu.RadioGroup>
        <Menu.Divider />
        {hasDocs() && (
          <Menu.Item
            component="a"
            href={`${serverAddress()}/docs`}
            target="_blank"
            leftSection={<IconBook size={16} />}
          >
            {shellTexts.apiDocs}
          </Menu.Item>
        )}
        <Menu.Item
          component="a"
          href={`${serverAddress()}/third-party-notices.txt`}
          target="_blank"
          leftSection={<IconBook size={16} />}
        >
          {shellTexts.licenses}
        </Menu.Item>
        <MenuItemLink to="/account" leftSection={<IconLock size={16} />}>
          {shellTexts.ownAccount}
        </MenuItemLink>
        <MenuItemLink to="/account/tokens" leftSection={<IconTerminal size={16} />}>
          {shellTexts.ownTokens}
        </MenuItemLink>
        {own?.administrator && (
          <MenuItemLink to="/admin/accounts" leftSection={<IconShield size={16} />}>
            {adminPagesTexts.heading}
          </MenuItemLink>
        )}
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => void signOut()}>
          {shellTexts.signOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
