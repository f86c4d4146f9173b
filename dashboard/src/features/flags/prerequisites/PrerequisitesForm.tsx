/** The form for a flag's prerequisites, in its dialog. */

import { useQuery } from "@tanstack/react-query";
import type { Flag, FlagPath, Rule } from "../../../api/client";
import { flagsQuery, useUpdateFlag } from "../flagsCalls";
import { NEW_PREREQUISITE, prerequisiteDraftOf, prerequisitesOf } from "./prerequisiteDrafts";
import { draftOfFlag } from "../../../api/flagPlace";
import { useEditor } from "../../../ui/editing/useEditor";
import { showAtFields } from "../../../ui/useSubmission";
import { prerequisitesTexts } from "./prerequisitesTexts";
import { common } from "../../../ui/commonTexts";
import { DialogForm } from "../../../ui/DialogForm";
import { PrerequisiteField } from "./PrerequisiteField";
import { Preview } from "../../explanations/Preview";
import { RowFields } from "../../../ui/RowFields";

interface Props {
  readonly path: FlagPath;
  readonly flag: Flag;
  readonly rules: readonly Rule[];
  readonly onClose: () => void;
}

export default function PrerequisitesForm({ path, flag, rules, onClose }: Props) {
  const { data: flags } = useQuery(flagsQuery(path));
  const update = useUpdateFlag(path);
  const { form, submit, editing } = useEditor({
    draft: draftOfFlag(flag, "prerequisites"),
    projectId: flag.project_id,
    resourceId: flag.id,
    resource: flag,
    valuesOf: (saved) => ({ prerequisites: saved.prerequisites.map(prerequisiteDraftOf) }),
    ...(flag.prerequisites.length === 0 && { initial: { prerequisites: [NEW_PREREQUISITE] } }),
    fieldsOf: ({ prerequisites }) => ({ prerequisites: prerequisitesOf(prerequisites) }),
    send: (body, tag) => update.mutateAsync({ ...body, tag }),
    onDone: onClose,
  });
  return (
    <DialogForm
      form={form}
      action={common.save}
      onSubmit={submit}
      onClose={onClose}
      editing={editing}
      aside={
        <Preview
          path={path}
          flag={flag}
          rules={rules}
          makeDraft={() => ({ ...flag, rules: [...rules], prerequisites: prerequisitesOf(form.values.prerequisites) })}
          fieldsAt="flag."
          onInvalid={(problem) => showAtFields(form, problem)}
        />
      }
    >
      <RowFields
        legend={prerequisitesTexts.legendOfForm}
        rows={form.values.prerequisites}
        addText={prerequisitesTexts.addOne}
        error={form.errors.prerequisites}
        onChange={(changed) => {
          form.setErrors({});
          form.setFieldValue("prerequisites", changed);
        }}
        added={(all) => [...all, NEW_PREREQUISITE]}
        render={(place) => (
          <PrerequisiteField
            {...place}
            flags={(flags ?? []).filter((each) => each.key !== flag.key)}
            errors={form.errors}
          />
        )}
      />
    </DialogForm>
  );
}
