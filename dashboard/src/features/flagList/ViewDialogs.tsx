/** The dialogs that save, rename and delete a view. */

import { Modal, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDeleteView, useSaveView, type View } from "../views/viewsCalls";
import type { DialogProps } from "../../ui/useDialog";
import { common } from "../../ui/commonTexts";
import { views as texts } from "./viewsTexts";
import { ConfirmDialog } from "../../ui/ConfirmDialog";
import { DialogForm } from "../../ui/DialogForm";
import { NameField } from "../../ui/fields";

interface Props extends DialogProps {
  readonly projectId: string;
  readonly search: View["search"];
  /** The view to rename; without one, a new one is saved. */
  readonly view?: View;
}

export function ViewDialog(props: Props) {
  return (
    <Modal title={props.view ? texts.renameHeading : texts.saveHeading} opened={props.opened} onClose={props.onClose}>
      <ViewForm {...props} />
    </Modal>
  );
}

function ViewForm({ projectId, search, view, onClose }: Props) {
  const { mutateAsync: save } = useSaveView(projectId);
  const form = useForm({ initialValues: { name: view?.name ?? "" } });
  const submit = async ({ name }: typeof form.values) => {
    await save({ ...(view && { view }), name, search });
    onClose();
  };
  return (
    <DialogForm form={form} action={view ? common.save : texts.saveAction} onSubmit={submit} onClose={onClose}>
      <NameField {...form.getInputProps("name")} />
      <Text size="sm" c="dimmed">
        {texts.hint}
      </Text>
    </DialogForm>
  );
}

interface DeletionProps extends DialogProps {
  readonly projectId: string;
  readonly view: View;
}

export function DeleteViewDialog({ projectId, view, onClose, ...rest }: DeletionProps) {
  const { mutateAsync: remove } = useDeleteView(projectId);
  return (
    <ConfirmDialog
      title={texts.ask(view.name)}
      consequence={texts.consequence}
      of={{ projectId, id: view.id, resource: view }}
      onConfirm={() => remove(view)}
      onClose={onClose}
      {...rest}
    />
  );
}
