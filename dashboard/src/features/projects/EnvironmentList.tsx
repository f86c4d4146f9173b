/** The environments of a project, in its settings. */

import { Checkbox, Group, Modal, Stack, Text, VisuallyHidden } from "@mantine/core";
import { useRef } from "react";
import type { Environment } from "../../api/client";
import { loadEnvironment, useDeleteEnvironment, useUpdateEnvironment } from "../../api/environments";
import { useDialog } from "../../ui/useDialog";
import { useEditor } from "../../ui/editing/useEditor";
import { type Step, useEnvironmentOrder } from "./useEnvironmentOrder";
import { useGuard } from "../../ui/useGuard";
import { useEnvironments } from "../../ui/useHere";
import { kept } from "./kept";
import { common } from "../../ui/commonTexts";
import { deletion as deletionTexts } from "../../ui/deletionTexts";
import { settings as texts } from "./projectsTexts";
import { DeleteDialog } from "../../ui/ConfirmDialog";
import { DialogForm } from "../../ui/DialogForm";
import { EnvironmentBadge } from "./EnvironmentBadge";
import classes from "./EnvironmentList.module.css";
import { KeptDaysField } from "./KeptDaysField";
import { NameField } from "../../ui/fields";
import { GuardedButton } from "../../ui/GuardedButton";
import { IconButton } from "../../ui/IconButton";
import { IconArrowDown, IconArrowUp, IconDots, IconPencil, IconPlus, IconTrash } from "../../ui/icons";
import { AnchorLink } from "../../ui/links";
import { NewEnvironmentDialog } from "./NewEnvironmentDialog";

const STEPS: readonly Step[] = [-1, 1];

export function EnvironmentList({ projectId }: { projectId: string }) {
  const environments = useEnvironments();
  const creation = useDialog();
  const create = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const order = useEnvironmentOrder(projectId, environments, list);
  return (
    <Stack gap="sm" align="flex-start">
      {environments.length === 0 && <Text c="dimmed">{texts.environmentNone}</Text>}
      <ul ref={list} className={classes.list} aria-label={texts.environments}>
        {order.shown.map((each, place) => (
          <EnvironmentRow
            key={each.id}
            projectId={projectId}
            environment={each}
            order={order}
            steps={STEPS.filter((step) => place + step in order.shown)}
            onDeleted={() => create.current?.focus()}
          />
        ))}
      </ul>
      <VisuallyHidden role="status">{order.said}</VisuallyHidden>
      <GuardedButton
        needs="environments:write"
        ref={create}
        variant="default"
        leftSection={<IconPlus size={16} />}
        onClick={creation.open}
      >
        {texts.environmentNew}
      </GuardedButton>
      <NewEnvironmentDialog projectId={projectId} {...creation.props} />
    </Stack>
  );
}

interface RowProps {
  readonly projectId: string;
  readonly environment: Environment;
  readonly order: ReturnType<typeof useEnvironmentOrder>;
  /** In which directions it can move. */
  readonly steps: readonly Step[];
  readonly onDeleted: () => void;
}

function EnvironmentRow({ projectId, environment, order, steps, onDeleted }: RowProps) {
  const editing = useDialog(draftOf(environment));
  const deletion = useDialog();
  const { mutateAsync } = useDeleteEnvironment(projectId, environment.id);
  const load = () => loadEnvironment(projectId, environment.id);
  const remove = async (tag: string | null) => {
    await mutateAsync({ tag });
    onDeleted();
  };
  const guard = { needs: "environments:write", within: environment } as const;
  const mayOrder = useGuard({ needs: "environments:write" }).reason === null;
  return (
    <li
      className={classes.environment}
      data-dragged={order.dragged === environment.id || undefined}
      {...order.target(environment.id)}
    >
      {mayOrder && order.shown.length > 1 && (
        <span className={classes.handle} title={texts.environmentDrag} {...order.handle(environment.id)}>
          <IconDots size={16} className={classes.grip} />
        </span>
      )}
      <AnchorLink
        to="/projects/$projectId/environments/$environmentId"
        params={{ projectId, environmentId: environment.id }}
        aria-label={texts.flagsOf(environment.name)}
        underline="never"
      >
        <EnvironmentBadge environment={environment} />
      </AnchorLink>
      <code className={classes.key}>{environment.key}</code>
      <Group gap={2} ml="auto" wrap="nowrap">
        {STEPS.map((step) =>
          steps.includes(step) ? (
            <IconButton
              key={step}
              needs="environments:write"
              hint={step < 0 ? texts.moveUp : texts.moveDown}
              label={step < 0 ? texts.moveUpOf(environment.name) : texts.moveDownOf(environment.name)}
              data-move={`${environment.id} ${step}`}
              onClick={() => order.step(environment.id, step)}
            >
              {step < 0 ? <IconArrowUp size={16} /> : <IconArrowDown size={16} />}
            </IconButton>
          ) : (
            <span key={step} className={classes.noStep} />
          ),
        )}
        <IconButton {...guard} hint={common.edit} label={texts.editOf(environment.name)} onClick={editing.open}>
          <IconPencil size={16} />
        </IconButton>
        <IconButton {...guard} hint={common.delete} label={texts.deleteOf(environment.name)} onClick={deletion.open}>
          <IconTrash size={16} />
        </IconButton>
      </Group>
      <Modal title={texts.environmentEdit} {...editing.props}>
        <EditEnvironment projectId={projectId} environment={environment} onClose={editing.props.onClose} />
      </Modal>
      <DeleteDialog
        name={environment.name}
        consequence={deletionTexts.environment}
        of={{ projectId, id: environment.id, resource: environment, load }}
        onDelete={remove}
        {...deletion.props}
      />
    </li>
  );
}

const draftOf = ({ id }: Environment) => `environment ${id}`;

interface EditProps {
  readonly projectId: string;
  readonly environment: Environment;
  readonly onClose: () => void;
}

function EditEnvironment({ projectId, environment, onClose }: EditProps) {
  const update = useUpdateEnvironment(projectId, environment.id);
  const { form, submit, editing } = useEditor({
    draft: draftOf(environment),
    projectId,
    resourceId: environment.id,
    resource: environment,
    load: () => loadEnvironment(projectId, environment.id),
    valuesOf: ({ name, critical, history_retention_days: days }) => ({
      name,
      critical,
      history_retention_days: days ?? "",
    }),
    fieldsOf: kept,
    send: (body, tag) => update.mutateAsync({ ...body, tag }),
    onDone: onClose,
  });
  return (
    <DialogForm form={form} action={common.save} onSubmit={submit} onClose={onClose} editing={editing}>
      <NameField {...form.getInputProps("name")} />
      <Checkbox
        label={texts.critical}
        description={texts.criticalHint}
        {...form.getInputProps("critical", { type: "checkbox" })}
      />
      <KeptDaysField description={texts.keptInEnvironment} {...form.getInputProps("history_retention_days")} />
    </DialogForm>
  );
}
