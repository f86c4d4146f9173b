/** A field for a comment that completes the addresses of members after an @. Ctrl+Enter sends it. */

import { Button, Combobox, Group, Textarea, useCombobox } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, useRef, useState } from "react";
import { membersQuery } from "../../api/members";
import { completed, suggested, typedMention } from "./mentions";
import { common } from "../../ui/commonTexts";
import { comments as texts } from "./commentsTexts";
import { Form } from "../../ui/Form";
import { GuardedButton } from "../../ui/GuardedButton";

interface Props {
  readonly projectId: string;
  readonly action: string;
  readonly text?: string;
  readonly onSubmit: (text: string) => Promise<unknown>;
  /** Ends the editing of a comment; a new one has no such button. */
  readonly onClose?: () => void;
}

export function CommentForm({ projectId, action, text = "", onSubmit, onClose }: Props) {
  const form = useForm({ initialValues: { text } });
  const { data: members = [] } = useQuery(membersQuery(projectId));
  const area = useRef<HTMLTextAreaElement>(null);
  const [caret, setCaret] = useState(0);
  const [isDismissed, setDismissed] = useState(false);
  const typed = typedMention(form.values.text, caret);
  const found =
    typed === null || isDismissed
      ? []
      : suggested(
          members.map(({ email }) => email),
          typed,
        );
  const combobox = useCombobox({ opened: found.length > 0, onDropdownClose: () => setDismissed(true) });
  const follow = () => {
    setCaret(area.current?.selectionStart ?? 0);
    setDismissed(false);
  };
  const choose = (email: string) => {
    const next = completed(form.values.text, caret, typed ?? "", email);
    form.setFieldValue("text", next.text);
    setCaret(next.caret);
    // After the text has been drawn, which moves the caret to its end.
    requestAnimationFrame(() => area.current?.setSelectionRange(next.caret, next.caret));
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
  };
  const submit = async (values: typeof form.values) => {
    await onSubmit(values.text);
    form.reset();
    onClose?.();
  };
  const buttons = (busy: boolean) => (
    <Group gap="xs">
      <GuardedButton type="submit" size="xs" needs="comments:write" loading={busy}>
        {action}
      </GuardedButton>
      {onClose && (
        <Button variant="default" size="xs" onClick={onClose}>
          {common.cancel}
        </Button>
      )}
    </Group>
  );
  return (
    <Form form={form} onSubmit={submit} buttons={buttons}>
      <Combobox store={combobox} onOptionSubmit={choose} position="bottom-start" width={320} shadow="md">
        <Combobox.Target>
          <Textarea
            dir="auto"
            ref={area}
            label={texts.label}
            placeholder={texts.placeholder}
            autosize
            minRows={2}
            maxRows={12}
            autoFocus={onClose !== undefined}
            {...form.getInputProps("text")}
            onKeyDown={onKeyDown}
            onSelect={follow}
            onBlur={() => setDismissed(true)}
          />
        </Combobox.Target>
        <Combobox.Dropdown>
          <Combobox.Options aria-label={texts.members}>
            {found.map((email, place) => (
              <Combobox.Option key={email} value={email} selected={place === 0} className="break">
                {email}
              </Combobox.Option>
            ))}
          </Combobox.Options>
        </Combobox.Dropdown>
      </Combobox>
    </Form>
  );
}
