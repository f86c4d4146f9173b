/** An empty place that says what would be here and how to make it so. */

import { Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import classes from "./Empty.module.css";

interface Props {
  readonly icon: ReactNode;
  readonly title: string;
  readonly text: string;
  readonly children?: ReactNode;
}

export function Empty({ icon, title, text, children }: Props) {
  return (
    <div className={classes.empty}>
      <Stack gap="md" align="center" maw={620} mx="auto">
        <div className={classes.icon} aria-hidden>
          {icon}
        </div>
        <Stack gap={4} align="center">
          <Title order={2} ta="center">
            {title}
          </Title>
          <Text c="dimmed" size="md" ta="center" maw={480}>
            {text}
          </Text>
        </Stack>
        {children}
      </Stack>
    </div>
  );
}
