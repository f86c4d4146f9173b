/** The SDK key: hidden until wished for, copied, and replaced after a word of warning. */

import { ActionIcon, Button, Group, Modal, Stack, Text, Tooltip } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconEye, IconEyeOff, IconRefresh } from "./icons";
import { useState } from "react";
import type { Project } from "../api/client";
import { lineOf } from "../api/problem";
import { useRegenerateKey } from "../api/projects";
import { notifyDone } from "../lib/notify";
import { t } from "../texts";
import { CopyIcon } from "./CopyButton";
import { Refusal } from "./Refusal";
import classes from "./SdkKey.module.css";

export function SdkKey({ project }: { project: Project }) {
  const [revealed, eye] = useDisclosure(false);
  const [asking, dialog] = useDisclosure(false);
  const label = revealed ? t.settings.conceal : t.settings.reveal;
  return (
    <Stack gap="sm" align="flex-start">
      <div className={classes.key}>
        <code className={classes.text} data-testid="sdk-key">
          {revealed ? project.sdk_key : `${project.sdk_key.slice(0, 8)}${"•".repeat(24)}`}
        </code>
        <Tooltip label={label}>
          <ActionIcon variant="subtle" color="gray" onClick={eye.toggle} aria-label={label}>
            {revealed ? <IconEyeOff size={16} /> : <IconEye size={16} />}
          </ActionIcon>
        </Tooltip>
        <CopyIcon text={project.sdk_key} label={t.settings.copyKey} />
      </div>
      <Button variant="default" leftSection={<IconRefresh size={16} />} onClick={dialog.open}>
        {t.settings.regenerate}
      </Button>
      <Modal opened={asking} onClose={dialog.close} title={t.settings.regenerateHeading}>
        <Regeneration project={project} onClose={dialog.close} />
      </Modal>
    </Stack>
  );
}

function Regeneration({ project, onClose }: { project: Project; onClose: () => void }) {
  const [refusal, setRefusal] = useState<string | null>(null);
  const regenerate = useRegenerateKey(project.id);
  const confirm = () =>
    regenerate.mutate(undefined, {
      onError: (error) => setRefusal(lineOf(error)),
      onSuccess: () => {
        onClose();
        notifyDone(t.settings.regenerated);
      },
    });
  return (
    <Stack gap="md">
      <Text>{t.settings.regenerateText(project.name)}</Text>
      <Refusal text={refusal} />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose} data-autofocus>
          {t.cancel}
        </Button>
        <Button color="alarm.7" onClick={confirm} loading={regenerate.isPending}>
          {t.settings.regenerateDo}
        </Button>
      </Group>
    </Stack>
  );
}
