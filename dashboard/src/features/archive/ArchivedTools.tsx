/** The two things that can be done with an archived flag. */

import { Group } from "@mantine/core";
import type { Flag, FlagPath } from "../../api/client";
import { useDeleteFlag, useUnarchiveFlag } from "./archiveCalls";
import { askIfCritical } from "../flags/switchingCalls";
import { notifyRefused } from "../../api/notify";
import { useDialog } from "../../ui/useDialog";
import { useHere } from "../../ui/useHere";
import { deletion as deletionTexts } from "../../ui/deletionTexts";
import { archive as texts } from "./archiveTexts";
import { DeleteDialog } from "../../ui/ConfirmDialog";
import { GuardedButton } from "../../ui/GuardedButton";

interface Props {
  readonly path: FlagPath;
  readonly flag: Flag;
  readonly onUnarchived?: () => void;
  readonly onDeleted: () => void;
}

export function ArchivedTools({ path, flag, onUnarchived, onDeleted }: Props) {
  const deletion = useDialog();
  const { mutate: unarchive, isPending } = useUnarchiveFlag(path);
  const { mutateAsync: deleteFlag } = useDeleteFlag(path, flag.name);
  const { environment } = useHere();
  const putBack = () =>
    unarchive(undefined, {
      onSuccess: () => onUnarchived?.(),
      onError: (error) => notifyRefused(texts.notUnarchived(flag.name), error),
    });
  const remove = async (tag: string | null) => {
    await deleteFlag({ tag });
    onDeleted();
  };
  return (
    <Group gap="xs" flex="none">
      <GuardedButton
        needs="flags:write"
        variant="default"
        size="xs"
        label={texts.unarchiveOf(flag.name)}
        loading={isPending}
        onClick={() => askIfCritical(path, environment, { flag, enabled: flag.enabled }, putBack)}
      >
        {texts.unarchive}
      </GuardedButton>
      <GuardedButton
        needs="flags:write"
        variant="default"
        size="xs"
        label={texts.deleteOf(flag.name)}
        onClick={deletion.open}
      >
        {texts.delete}
      </GuardedButton>
      <DeleteDialog
        name={flag.name}
        consequence={deletionTexts.flag}
        of={{ projectId: path.project_id, id: flag.id, resource: flag }}
        onDelete={remove}
        saysSo={false}
        {...deletion.props}
      />
    </Group>
  );
}
