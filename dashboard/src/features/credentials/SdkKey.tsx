/** The SDK key: hidden at first, can be shown, copied, and regenerated after a warning. */

import { Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { Project } from "../../api/client";
import { useRegenerateKey } from "../../api/projects";
import { notifyDone } from "../../api/notify";
import { useDialog } from "../../ui/useDialog";
import { sdkKeys as texts } from "./sdkKeysTexts";
import { ConfirmDialog } from "../../ui/ConfirmDialog";
import { CopyIcon } from "../../ui/CopyButton";
import { GuardedButton } from "../../ui/GuardedButton";
import { IconButton } from "../../ui/IconButton";
import { IconEye, IconEyeOff, IconRefresh } from "../../ui/icons";
import classes from "./SdkKey.module.css";

export function SdkKey({ project }: { project: Project }) {
  const regeneration = useDialog();
  const { mutateAsync: regenerate } = useRegenerateKey(project.id);
  const confirm = async (tag: string | null) => {
    await regenerate({ tag });
    regeneration.props.onClose();
    notifyDone(texts.regenerated);
  };
  return (
    <Stack gap="sm" align="flex-start">
      {project.sdk_key === null ? <Text c="dimmed">{texts.keyNotShown}</Text> : <VisibleKey sdkKey={project.sdk_key} />}
      <GuardedButton
        needs="keys:rotate"
        variant="default"
        leftSection={<IconRefresh size={16} />}
        onClick={regeneration.open}
      >
        {texts.regenerate}
      </GuardedButton>
      <ConfirmDialog
        title={texts.regenerateHeading}
        consequence={texts.regenerateText(project.name)}
        action={texts.regenerateDo}
        of={{ projectId: project.id, id: project.id, resource: project }}
        onConfirm={confirm}
        {...regeneration.props}
      />
    </Stack>
  );
}

function VisibleKey({ sdkKey }: { sdkKey: string }) {
  const [revealed, eye] = useDisclosure(false);
  return (
    <div className={classes.key}>
      <code className={classes.text} data-testid="sdk-key">
        {revealed ? sdkKey : `${sdkKey.slice(0, 8)}${"•".repeat(24)}`}
      </code>
      <IconButton hint={revealed ? texts.conceal : texts.reveal} onClick={eye.toggle}>
        {revealed ? <IconEyeOff size={16} /> : <IconEye size={16} />}
      </IconButton>
      <CopyIcon text={sdkKey} label={texts.copyKey} />
    </div>
  );
}
