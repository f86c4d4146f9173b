/** A button that unfolds a call which the dashboard does not make. What is unfolded may have to be loaded. */

import { Group, UnstyledButton } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { type ReactNode, Suspense } from "react";
import { IconTerminal } from "./icons";
import { RowsSkeleton } from "./PageSkeleton";
import classes from "./Unfold.module.css";

export function Unfold({ label, children }: { label: string; children: ReactNode }) {
  const [opened, { toggle }] = useDisclosure(false);
  return (
    <div className={classes.unfold}>
      <UnstyledButton onClick={toggle} aria-expanded={opened} className={classes.button}>
        <Group gap={6} wrap="nowrap">
          <IconTerminal size={15} />
          {label}
        </Group>
      </UnstyledButton>
      {opened && <Suspense fallback={<RowsSkeleton rows={3} />}>{children}</Suspense>}
    </div>
  );
}
