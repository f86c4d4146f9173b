/** The heading of a part of a page, with what it is about and its main action. */

import { Group, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";

interface Props {
  readonly title: string;
  readonly intro: string;
  readonly action: ReactNode;
}

export function SectionHeading({ title, intro, action }: Props) {
  return (
    <Group justify="space-between" align="flex-end" mb="sm" wrap="nowrap">
      <div>
        <Title order={2}>{title}</Title>
        <Text c="dimmed" size="sm" className="break">
          {intro}
        </Text>
      </div>
      {action}
    </Group>
  );
}
