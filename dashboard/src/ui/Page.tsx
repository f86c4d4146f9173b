/** A page: its title, which is also the document's, its actions and its content. */

import { Container, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { useTitle } from "./useTitle";
import classes from "./Page.module.css";
import { Given } from "./Given";

interface Props {
  readonly title: string;
  readonly intro?: ReactNode;
  readonly actions?: ReactNode;
  readonly size?: number;
  readonly children: ReactNode;
}

export function Page({ title, intro, actions, size = 1160, children }: Props) {
  useTitle(title);
  return (
    <Container size={size} py="lg" pb={80}>
      <div className={classes.head}>
        <Stack gap={2} miw={0} className={classes.title}>
          <Title order={1} className="break" lts="-0.015em">
            <Given text={title} />
          </Title>
          {intro && (
            <Text c="dimmed" component="div" className="break">
              {intro}
            </Text>
          )}
        </Stack>
        {actions}
      </div>
      {children}
    </Container>
  );
}
