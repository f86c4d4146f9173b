/** The form for a new SDK key, which offers the environments in which its maker may create keys. */

import { NativeSelect } from "@mantine/core";
import { useForm } from "@mantine/form";
import type { Environment } from "../../api/client";
import { type CreatedSdkKey, useCreateSdkKey } from "./sdkKeysCalls";
import { isDay } from "./expiry";
import { type SdkKeyDraft, sdkKeyOf } from "./sdkKeyDrafts";
import { sdkKeys as texts } from "./sdkKeysTexts";
import { DialogForm } from "../../ui/DialogForm";
import { ExpiryFields } from "./ExpiryFields";
import { NameField } from "../../ui/fields";
import { OriginsField } from "./OriginsField";

interface Props {
  readonly projectId: string;
  readonly environments: readonly Environment[];
  readonly onCreated: (created: CreatedSdkKey) => void;
  readonly onClose: () => void;
}

const KINDS = ["server", "browser"] as const;

export function NewSdkKeyForm({ projectId, environments, onCreated, onClose }: Props) {
  const { mutateAsync: create } = useCreateSdkKey(projectId);
  const form = useForm<SdkKeyDraft>({
    initialValues: {
      name: "",
      environment: environments[0]?.key ?? "",
      kind: "server",
      expires_at: "never",
      date: "",
      allowed_origins: [],
    },
    validate: {
      date: (date, { expires_at: choice }) => (choice === "date" && !isDay(date) ? texts.dateMissing : null),
    },
  });
  const submit = async (draft: SdkKeyDraft) => onCreated(await create(sdkKeyOf(draft, Date.now())));
  return (
    <DialogForm form={form} action={texts.create} onSubmit={submit} onClose={onClose}>
      <NameField placeholder={texts.namePlaceholder} {...form.getInputProps("name")} />
      <NativeSelect
        label={texts.environment}
        data={environments.map(({ key, name }) => ({ value: key, label: name }))}
        {...form.getInputProps("environment")}
      />
      <NativeSelect
        label={texts.kind}
        description={texts.kindHints[form.values.kind]}
        data={KINDS.map((value) => ({ value, label: texts.kinds[value] }))}
        {...form.getInputProps("kind")}
      />
      {form.values.kind === "browser" && <OriginsField {...form.getInputProps("allowed_origins")} />}
      <ExpiryFields
        choice={form.values.expires_at}
        select={form.getInputProps("expires_at")}
        date={form.getInputProps("date")}
        neverHint={texts.neverHint}
      />
    </DialogForm>
  );
}
