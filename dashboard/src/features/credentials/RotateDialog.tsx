/** Replaces an SDK key: creates one like it, shows its secret once, and then who still uses the old one. */

import { Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";
import type { Environment } from "../../api/client";
import { type CreatedSdkKey, type SdkKey, useCreateSdkKey } from "./sdkKeysCalls";
import { isDay } from "./expiry";
import { rotationOf, type RotationDraft, rotatedKeyOf } from "./sdkKeyDrafts";
import { evaluateCommand } from "../../ui/snippets";
import type { DialogProps } from "../../ui/useDialog";
import { rotation as rotationTexts, sdkKeys as texts } from "./sdkKeysTexts";
import { DialogForm } from "../../ui/DialogForm";
import { NameField } from "../../ui/fields";
import { ExpiryFields } from "./ExpiryFields";
import { ReplacedKeyDialog } from "./ReplacedKeyDialog";
import { SecretDialog } from "./SecretDialog";

interface Props extends DialogProps {
  readonly projectId: string;
  readonly environment: Environment | undefined;
  readonly sdkKey: SdkKey;
  readonly onRevoke: () => void;
}

export function RotateDialog({ opened, onClose, projectId, environment, sdkKey, onRevoke }: Props) {
  const [created, setCreated] = useState<CreatedSdkKey | null>(null);
  const [isMoving, setMoving] = useState(false);
  const close = () => {
    setMoving(false);
    setCreated(null);
    onClose();
  };
  return (
    <>
      <SecretDialog<CreatedSdkKey>
        opened={opened && !isMoving}
        onClose={() => (created === null ? close() : setMoving(true))}
        title={rotationTexts.heading(sdkKey.name)}
        form={(show, onCancel) => (
          <RotationForm
            projectId={projectId}
            sdkKey={sdkKey}
            environment={environment}
            onCreated={(made) => {
              setCreated(made);
              show(made);
            }}
            onClose={onCancel}
          />
        )}
        secretOf={({ name, key, environment: environmentKey }) => ({
          heading: texts.secretHeading,
          text: `${texts.secretText(name)} ${rotationTexts.whereTo(sdkKey.hint)}`,
          label: texts.secretLabel,
          copy: texts.copySecret,
          secret: key,
          command: evaluateCommand({ project: { sdk_key: key }, environment: { key: environmentKey } }),
          done: rotationTexts.next,
        })}
      />
      {created && (
        <ReplacedKeyDialog
          opened={opened && isMoving}
          onClose={close}
          {...{ projectId, environment }}
          oldKey={sdkKey}
          newKey={created}
          onRevoke={() => {
            close();
            onRevoke();
          }}
        />
      )}
    </>
  );
}

interface FormProps {
  readonly projectId: string;
  readonly environment: Environment | undefined;
  readonly sdkKey: SdkKey;
  readonly onCreated: (created: CreatedSdkKey) => void;
  readonly onClose: () => void;
}

function RotationForm({ projectId, environment, sdkKey, onCreated, onClose }: FormProps) {
  const { mutateAsync: create } = useCreateSdkKey(projectId);
  const form = useForm<RotationDraft>({
    initialValues: rotationOf(sdkKey),
    validate: {
      date: (date, { expires_at: choice }) => (choice === "date" && !isDay(date) ? texts.dateMissing : null),
    },
  });
  const submit = async (draft: RotationDraft) => onCreated(await create(rotatedKeyOf(sdkKey, draft, Date.now())));
  return (
    <DialogForm form={form} action={rotationTexts.create} onSubmit={submit} onClose={onClose}>
      <Text>{rotationTexts.text(texts.kinds[sdkKey.kind], environment?.name ?? sdkKey.environment)}</Text>
      <NameField {...form.getInputProps("name")} />
      <ExpiryFields
        choice={form.values.expires_at}
        select={form.getInputProps("expires_at")}
        date={form.getInputProps("date")}
        neverHint={texts.neverHint}
      />
    </DialogForm>
  );
}
