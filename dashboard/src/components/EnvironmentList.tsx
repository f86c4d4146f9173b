/** The environments of a project, in its settings. */

import { ActionIcon, Button, Group, Stack, Text, TextInput, Tooltip } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { IconPencil, IconPlus, IconTrash } from "./icons";
import type { Environment } from "../api/client";
import { useDeleteEnvironment, useRenameEnvironment } from "../api/environments";
import { notifyDone } from "../lib/notify";
import { useEnvironments } from "../lib/useHere";
import { t } from "../texts";
import { DeleteDialog } from "./DeleteDialog";
import { EnvironmentBadge } from "./EnvironmentBadge";
import classes from "./EnvironmentList.module.css";
import { DialogForm, FormDialog } from "./FormDialog";
import { AnchorLink } from "./links";
import { NewEnvironmentDialog } from "./NewEnvironmentDialog";

export function EnvironmentList({ projectId }: { projectId: string }) {
  const environments = useEnvironments();
  const [creating, dialog] = useDisclosure(false);
  return (
    <Stack gap="sm" align="flex-start">
      {environments.length === 0 && <Text c="dimmed">{t.settings.environmentNone}</Text>}
      <ul className={classes.list}>
        {environments.map((each) => (
          <EnvironmentRow key={each.id} projectId={projectId} environment={each} />
        ))}
      </ul>
      <Button variant="default" leftSection={<IconPlus size={16} />} onClick={dialog.open}>
        {t.settings.environmentNew}
      </Button>
      <NewEnvironmentDialog projectId={projectId} opened={creating} onClose={dialog.close} />
    </Stack>
  );
}

function EnvironmentRow({ projectId, environment }: { projectId: string; environment: Environment }) {
  const [renaming, renameDialog] = useDisclosure(false);
  const [deleting, deleteDialog] = useDisclosure(false);
  const remove = useDeleteEnvironment(projectId, environment.id);
  const confirm = async () => {
    await remove.mutateAsync();
    notifyDone(t.deletion.done(environment.name));
  };
  return (
    <li className={classes.environment}>
      <AnchorLink
        to="/projects/$projectId/environments/$environmentId"
        params={{ projectId, environmentId: environment.id }}
        aria-label={t.settings.flagsOf(environment.name)}
        underline="never"
        miw={0}
      >
        <EnvironmentBadge environment={environment} />
      </AnchorLink>
      <code className={classes.key}>{environment.key}</code>
      <Group gap={2} ml="auto" wrap="nowrap">
        <Tooltip label={t.settings.rename}>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={t.settings.renameOf(environment.name)}
            onClick={renameDialog.open}
          >
            <IconPencil size={16} />
          </ActionIcon>
        </Tooltip>
        <Tooltip label={t.delete}>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={t.settings.deleteOf(environment.name)}
            onClick={deleteDialog.open}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </Tooltip>
      </Group>
      <FormDialog title={t.settings.environmentRename} opened={renaming} onClose={renameDialog.close}>
        <Rename projectId={projectId} environment={environment} onClose={renameDialog.close} />
      </FormDialog>
      <DeleteDialog
        name={environment.name}
        consequence={t.deletion.environment}
        opened={deleting}
        onClose={deleteDialog.close}
        onDelete={confirm}
      />
    </li>
  );
}

interface RenameProps {
  readonly projectId: string;
  readonly environment: Environment;
  readonly onClose: () => void;
}

function Rename({ projectId, environment, onClose }: RenameProps) {
  const rename = useRenameEnvironment(projectId, environment.id);
  const form = useForm({ initialValues: { name: environment.name } });
  const submit = async (values: { name: string }) => {
    await rename.mutateAsync(values);
    onClose();
  };
  return (
    <DialogForm form={form} action={t.settings.rename} onSubmit={submit} onClose={onClose}>
      <TextInput label={t.settings.environmentName} maxLength={255} data-autofocus {...form.getInputProps("name")} />
    </DialogForm>
  );
}
