/** The frame of the pages before sign-in. */

import { Center, Group, Paper, Stack, Text } from "@mantine/core";
import { Outlet } from "@tanstack/react-router";
import { accountsTexts } from "./accountsTexts";
import { common } from "../../ui/commonTexts";
import { Logo } from "../../ui/Logo";

export function AccountLayout() {
  return (
    <Center mih="100dvh" px="md" py="xl" bg="var(--surface-sunken)" component="main">
      <Stack w="100%" maw={380} gap="lg" mb="8vh">
        <Stack gap={6} align="center">
          <Group gap={10}>
            <Logo size={30} />
            <Text fz={20} fw={650} lts="-0.01em" aria-hidden>
              {common.product}
            </Text>
          </Group>
          <Text c="dimmed" size="sm">
            {accountsTexts.tagline}
          </Text>
        </Stack>
        <Paper withBorder p="xl" radius="lg" bg="var(--surface)">
          <Outlet />
        </Paper>
      </Stack>
    </Center>
  );
}
