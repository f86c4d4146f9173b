/** The form for a webhook, new or edited. */

import { MultiSelect, NativeSelect, TagsInput, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { lazy } from "react";
import type { Environment } from "../../api/client";
import type { Place } from "./webhooksCalls";
import { eventsOf, filterOf, type WebhookDraft } from "./webhookDrafts";
import { common } from "../../ui/commonTexts";
import { webhooks as texts } from "./webhooksTexts";
import { DialogForm } from "../../ui/DialogForm";
import { IconBroadcast } from "../../ui/icons";
import { Unfold } from "../../ui/Unfold";

const Preview = lazy(() => import("./Preview"));

interface Props {
  readonly place: Place;
  readonly initial: WebhookDraft;
  readonly environments: readonly Environment[];
  readonly action: string;
  readonly onSubmit: (draft: WebhookDraft) => Promise<unknown>;
  readonly onClose: () => void;
}

const FORMATS = ["standard", "slack", "teams", "discord"] as const;

export function WebhookForm({ place, initial, environments, action, onSubmit, onClose }: Props) {
  const form = useForm<WebhookDraft>({ initialValues: initial });
  return (
    <DialogForm form={form} action={action} onSubmit={onSubmit} onClose={onClose}>
      <TextInput
        label={texts.url}
        description={texts.urlHint}
        placeholder={texts.urlPlaceholder}
        type="url"
        maxLength={2048}
        autoComplete="off"
        spellCheck={false}
        data-autofocus
        {...form.getInputProps("url")}
      />
      <NativeSelect
        label={texts.format}
        data={FORMATS.map((value) => ({ value, label: texts.formats[value] }))}
        {...form.getInputProps("format")}
      />
      <TagsInput
        label={texts.events}
        description={texts.eventsHint}
        data={eventsOf(place)}
        maxTags={50}
        {...form.getInputProps("events")}
      />
      {place !== null && (
        <MultiSelect
          label={`${texts.environments} (${common.optional})`}
          description={texts.environmentsHint}
          data={environments.map(({ key, name }) => ({ value: key, label: name }))}
          {...form.getInputProps("environments")}
        />
      )}
      <TagsInput
        label={`${texts.tags} (${common.optional})`}
        description={texts.tagsHint}
        maxTags={50}
        {...form.getInputProps("tags")}
      />
      <TextInput
        label={`${common.description} (${common.optional})`}
        maxLength={10_000}
        {...form.getInputProps("description")}
      />
      <Unfold label={texts.preview} icon={<IconBroadcast size={15} />}>
        <Preview place={place} filter={filterOf(form.values)} />
      </Unfold>
    </DialogForm>
  );
}
