/** Who is signed in, how the page looks, and the way out. */

import { Menu, SegmentedControl, Text, UnstyledButton, useMantineColorScheme } from "@mantine/core";
import { IconBook, IconLogout } from "./icons";
import { forgetEnvironments } from "../lib/lastEnvironment";
import { currentSession, endSession } from "../lib/session";
import { t } from "../texts";
import classes from "./AccountMenu.module.css";

export function AccountMenu() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const email = currentSession()?.email ?? "";
  const signOut = () => {
    forgetEnvironments();
    endSession("signed-out");
  };
  return (
    <Menu position="bottom-end" width={248} shadow="md" radius="md">
      <Menu.Target>
        <UnstyledButton className={classes.button} aria-label={t.shell.account}>
          {email.slice(0, 1).toUpperCase()}
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <div className={classes.who}>
          <Text size="xs" c="dimmed">
            {t.shell.signedInAs}
          </Text>
          <Text size="sm" fw={550} className="break">
            {email}
          </Text>
        </div>
        <Menu.Divider />
        <div className={classes.who}>
          <SegmentedControl
            fullWidth
            size="xs"
            aria-label={t.shell.scheme}
            value={colorScheme}
            onChange={setColorScheme}
            data={[
              { value: "light", label: t.shell.light },
              { value: "dark", label: t.shell.dark },
              { value: "auto", label: t.shell.system },
            ]}
          />
        </div>
        <Menu.Divider />
        <Menu.Item component="a" href="/docs" target="_blank" leftSection={<IconBook size={16} />}>
          {t.shell.apiDocs}
        </Menu.Item>
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={signOut}>
          {t.shell.signOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
