/** A button that unfolds content that few people need, such as a call of the API. The content may have to be loaded. */

import { Group, UnstyledButton } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { type ReactNode, Suspense } from "react";
import { IconTerminal } from "./icons";
import { RowsSkeleton } from "./PageSkeleton";
import classes from "./Unfold.module.css";

interface Props {
  readonly label: string;
  readonly icon?: ReactNode;
  readonly children: ReactNode;
}

export function Unfold({ label, icon = <IconTerminal size={15} />, children }: Props) {
  const [opened, { toggle }] = useDisclosure(false);
  return (
    <div className={classes.unfold}>
      <UnstyledButton onClick={toggle} aria-expanded={opened} className={classes.button}>
        <Group gap={6} wrap="nowrap">
          {icon}
          {label}
        </Group>
      </UnstyledButton>
      {opened && <Suspense fallback={<RowsSkeleton rows={3} />}>{children}</Suspense>}
    </div>
  );
}
