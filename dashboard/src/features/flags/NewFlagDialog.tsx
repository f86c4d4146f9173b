import { Alert, Checkbox, Group, Modal } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { EnvironmentPath } from "../../api/client";
import { useCreateFlag } from "./flagsCalls";
import { described } from "../../ui/described";
import { proposeFlagKey } from "../../ui/proposeKey";
import type { DialogProps } from "../../ui/useDialog";
import { useEnvironments } from "../../ui/useHere";
import { flagsTexts } from "./flagsTexts";
import { turnOn } from "./turnOnTexts";
import { DialogForm } from "../../ui/DialogForm";
import { DescriptionField, NameAndKeyFields } from "../../ui/fields";

type Props = DialogProps & { readonly path: EnvironmentPath };

export function NewFlagDialog(props: Props) {
  return (
    <Modal title={flagsTexts.new} opened={props.opened} onClose={props.onClose}>
      <NewFlag {...props} />
    </Modal>
  );
}

function NewFlag({ path, onClose }: Props) {
  const navigate = useNavigate();
  const create = useCreateFlag(path);
  const environments = useEnvironments();
  const others = environments.filter((each) => each.id !== path.env_id);
  const [alsoIn, setAlsoIn] = useState<string[]>([]);
  const form = useForm({ initialValues: { name: "", key: "", description: "", enabled: false } });
  const [askedAbout, setAskedAbout] = useState("");
  const turnedOnIn = environments
    .filter(({ id, critical }) => form.values.enabled && critical && [path.env_id, ...alsoIn].includes(id))
    .map((each) => each.name)
    .join(", ");
  const isAsked = turnedOnIn !== "" && askedAbout === turnedOnIn;
  const submit = async (values: typeof form.values) => {
    if (turnedOnIn !== "" && !isAsked) return setAskedAbout(turnedOnIn);
    const flag = await create.mutateAsync({ body: { ...described(values), rollout_percentage: 0 }, alsoIn });
    onClose();
    await navigate({
      to: "/projects/$projectId/environments/$environmentId/flags/$flagId",
      params: { projectId: flag.project_id, environmentId: flag.environment_id, flagId: flag.id },
    });
  };
  return (
    <DialogForm form={form} action={isAsked ? turnOn.create : flagsTexts.create} onSubmit={submit} onClose={onClose}>
      <NameAndKeyFields
        form={form}
        propose={proposeFlagKey}
        placeholder={flagsTexts.namePlaceholder}
        keyHint={flagsTexts.keyHint}
      />
      <DescriptionField {...form.getInputProps("description")} />
      <Checkbox label={flagsTexts.enabled} {...form.getInputProps("enabled", { type: "checkbox" })} />
      {others.length > 0 && (
        <Checkbox.Group label="Also create it in" value={alsoIn} onChange={setAlsoIn}>
          <Group gap="sm" mt={6} mah={160} style={{ overflow: "auto" }}>
            {others.map((each) => (
              <Checkbox key={each.id} value={each.id} label={each.name} />
            ))}
          </Group>
        </Checkbox.Group>
      )}
      {isAsked && (
        <Alert role="alert" color="alarm" variant="light" py="xs">
          {turnOn.turnsOn(1, turnedOnIn)} {turnOn.newFlag}
        </Alert>
      )}
    </DialogForm>
  );
}
