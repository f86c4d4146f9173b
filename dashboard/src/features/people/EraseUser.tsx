/** The two steps of an erasure: a preview of what is stored about a user, and the order to erase it. */

import { Group, Stack, Text, TextInput, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useEffect, useRef, useState } from "react";
import { type ErasedUser, type ErasurePreview, useErase, usePreviewErasure } from "./erasuresCalls";
import { useDialog } from "../../ui/useDialog";
import { notifyDone } from "../../api/notify";
import { erasures as texts } from "./erasuresTexts";
import { ConfirmDialog } from "../../ui/ConfirmDialog";
import { Form } from "../../ui/Form";
import { GuardedButton } from "../../ui/GuardedButton";
import { Previewed } from "./Previewed";

interface Shown {
  readonly user: ErasedUser;
  readonly preview: ErasurePreview;
}

interface Props {
  readonly projectId: string;
  readonly onErased: () => void;
}

export function EraseUser({ projectId, onErased }: Props) {
  const [shown, setShown] = useState<Shown | null>(null);
  const { mutateAsync: previewOf } = usePreviewErasure(projectId);
  // What is shown is about the user in the fields.
  const form = useForm({
    initialValues: { user_id: "", user_email: "" },
    onValuesChange: () => setShown(null),
  });
  const submit = async (values: { user_id: string; user_email: string }) => {
    const user = { user_id: values.user_id || null, user_email: values.user_email || null };
    setShown({ user, preview: await previewOf(user) });
  };
  const erased = () => {
    form.reset();
    setShown(null);
    onErased();
  };
  const button = (busy: boolean) => (
    <Group gap="xs">
      <GuardedButton type="submit" variant="default" needs="users:erase" loading={busy}>
        {texts.preview}
      </GuardedButton>
      <Text size="sm" c="dimmed">
        {texts.previewHint}
      </Text>
    </Group>
  );
  return (
    <Stack gap="lg">
      <Stack maw={480}>
        <Form form={form} onSubmit={submit} buttons={button}>
          <TextInput
            label={texts.userId}
            description={texts.userIdHint}
            autoComplete="off"
            spellCheck={false}
            {...form.getInputProps("user_id")}
          />
          <TextInput
            label={texts.email}
            description={texts.emailHint}
            type="email"
            autoComplete="off"
            spellCheck={false}
            {...form.getInputProps("user_email")}
          />
        </Form>
      </Stack>
      {shown && <Order key={shown.preview.confirmation} projectId={projectId} onErased={erased} {...shown} />}
    </Stack>
  );
}

function Order({ projectId, user, preview, onErased }: Shown & Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  const confirmation = useDialog();
  const { mutateAsync: erase } = useErase(projectId);
  const name = user.user_id ?? user.user_email ?? "";
  useEffect(() => heading.current?.focus(), []);
  const confirm = async () => {
    await erase({ ...user, confirmation: preview.confirmation });
    notifyDone(texts.requested);
    onErased();
  };
  return (
    <div>
      <Stack gap="md">
        <Title order={2} ref={heading} tabIndex={-1}>
          {texts.found}
        </Title>
        <Previewed projectId={projectId} preview={preview} />
        <Group>
          <GuardedButton needs="users:erase" variant="outline" color="alarm" onClick={confirmation.open}>
            {texts.erase}
          </GuardedButton>
        </Group>
      </Stack>
      <ConfirmDialog
        title={texts.eraseHeading(name)}
        consequence={texts.eraseText}
        action={texts.erase}
        name={name}
        onConfirm={confirm}
        {...confirmation.props}
      />
    </div>
  );
}
