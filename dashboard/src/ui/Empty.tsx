/** A placeholder for empty content that says what belongs here and how to create it. */

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
        <Stack gap={4} maw="100%">
          <Title order={2} ta="center" className="break">
            {title}
          </Title>
          <Text c="dimmed" size="md" ta="center" maw={480} mx="auto" className="break">
            {text}
          </Text>
        </Stack>
        {children}
      </Stack>
    </div>
  );
}
