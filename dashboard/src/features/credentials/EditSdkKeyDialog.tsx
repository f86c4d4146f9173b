/** Changes the name of an SDK key, and the origins of the pages that may use it. */

import { Modal } from "@mantine/core";
import { loadSdkKey, type SdkKey, useUpdateSdkKey } from "./sdkKeysCalls";
import type { DialogProps } from "../../ui/useDialog";
import { useEditor } from "../../ui/editing/useEditor";
import { common } from "../../ui/commonTexts";
import { sdkKeys as texts } from "./sdkKeysTexts";
import { DialogForm } from "../../ui/DialogForm";
import { NameField } from "../../ui/fields";
import { OriginsField } from "./OriginsField";
import { draftOfSdkKey } from "./sdkKeyDrafts";

interface Props {
  readonly projectId: string;
  readonly sdkKey: SdkKey;
}

export function EditSdkKeyDialog({ opened, onClose, ...props }: DialogProps & Props) {
  return (
    <Modal title={texts.edit(props.sdkKey.name)} opened={opened} onClose={onClose}>
      <EditSdkKey {...props} onClose={onClose} />
    </Modal>
  );
}

function EditSdkKey({ projectId, sdkKey, onClose }: Props & Pick<DialogProps, "onClose">) {
  const update = useUpdateSdkKey(projectId, sdkKey.id);
  const { form, submit, editing } = useEditor({
    draft: draftOfSdkKey(sdkKey),
    projectId,
    resourceId: sdkKey.id,
    resource: sdkKey,
    load: () => loadSdkKey(projectId, sdkKey.id),
    valuesOf: ({ name, allowed_origins }) => ({ name, allowed_origins }),
    fieldsOf: (values) => values,
    send: (body, tag) => update.mutateAsync({ ...body, tag }),
    onDone: onClose,
  });
  return (
    <DialogForm form={form} action={common.save} onSubmit={submit} onClose={onClose} editing={editing}>
      <NameField {...form.getInputProps("name")} />
      {sdkKey.kind === "browser" && <OriginsField {...form.getInputProps("allowed_origins")} />}
    </DialogForm>
  );
}
