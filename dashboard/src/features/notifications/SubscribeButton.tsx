/** Opens the dialog in which the account subscribes to changes. */

import { Button } from "@mantine/core";
import { useDialog } from "../../ui/useDialog";
import { lateDialog } from "../../ui/lateDialog";
import type { SubscriptionTarget } from "./SubscribeDialog";

const SubscribeDialog = lateDialog(() => import("./SubscribeDialog").then((module) => module.SubscribeDialog));

interface Props {
  readonly projectId: string;
  readonly targets: readonly SubscriptionTarget[];
  readonly size?: "compact-xs" | "sm";
}

export function SubscribeButton({ projectId, targets, size = "sm" }: Props) {
  const dialog = useDialog();
  return (
    <>
      <Button variant="default" size={size} flex="none" onClick={dialog.open}>
        Subscribe
      </Button>
      <SubscribeDialog projectId={projectId} targets={targets} {...dialog.props} />
    </>
  );
}
