/** Opens the dialog in which the account subscribes to changes. */

import { Button } from "@mantine/core";
import { useDialog } from "../../lib/hooks/useDialog";
import { flagList as texts } from "../../texts/flagList";
import { lateDialog } from "../shared/lateDialog";
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
        {texts.subscribe}
      </Button>
      <SubscribeDialog projectId={projectId} targets={targets} {...dialog.props} />
    </>
  );
}
