/** Whether webhooks of the instance have the contents of a project's changes. */

import { Stack, Switch, Text } from "@mantine/core";
import { useId } from "react";
import type { Project } from "../../api/client";
import { useUpdateProject } from "../../api/projects";
import { useGuard } from "../../ui/useGuard";
import { notifyDone, notifyRefused } from "../../api/notify";
import { sharing as texts } from "./sharingTexts";

export function SharedContents({ project }: { project: Project }) {
  const { reason: forbidden, attributes } = useGuard({ needs: "project:write" });
  const { mutateAsync: update, isPending } = useUpdateProject(project.id);
  const reasonId = useId();
  const isShared = project.shares_contents;
  const change = () =>
    update({ shares_contents: !isShared, tag: `"${project.updated_at}"` }).then(
      () => notifyDone(isShared ? texts.ended : texts.begun),
      (error: unknown) => notifyRefused(texts.failed, error),
    );
  return (
    <Stack gap="xs">
      <Switch
        label={texts.label}
        checked={isShared}
        {...attributes}
        disabled={isPending || forbidden !== null}
        aria-describedby={reasonId}
        onChange={() => void change()}
      />
      <Text id={reasonId} size="sm" c="dimmed">
        {forbidden ?? texts.effect}
      </Text>
    </Stack>
  );
}
