/** Shows what a user would get, and why, by calling the real endpoint. */

import { Button, Text, TextInput, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import type { Rule } from "../api/client";
import { type Asked, useEvaluate } from "../api/evaluate";
import { DEFAULT_STICKINESS } from "../lib/audience";
import { BUILT_IN } from "../lib/conditions";
import type { FlagPlace } from "../lib/flagPlace";
import { t } from "../texts";
import { Answer } from "./Answer";
import { AttributeFields } from "./AttributeFields";
import { Form } from "./Form";
import classes from "./Simulator.module.css";

export function Simulator({ project, environment, flag, rules }: FlagPlace & { readonly rules: readonly Rule[] }) {
  const form = useForm<Asked>({ initialValues: { userId: "", userEmail: "", attributes: [] } });
  const { mutateAsync, data, variables, isSuccess, isIdle } = useEvaluate(project.sdk_key ?? "", environment);
  const answer = data && Object.hasOwn(data.flags, flag.key) ? data.flags[flag.key] : undefined;
  const ask = (busy: boolean) => (
    <Button type="submit" variant="default" loading={busy} disabled={project.sdk_key === null}>
      {t.simulator.ask}
    </Button>
  );
  return (
    <section className={classes.simulator} aria-label={t.simulator.heading}>
      <Title order={2}>{t.simulator.heading}</Title>
      <Text c="dimmed" size="sm" mb="sm">
        {project.sdk_key === null ? t.settings.keyNotShown : t.simulator.intro}
      </Text>
      <Form form={form} onSubmit={mutateAsync} buttons={ask}>
        <TextInput
          label={t.simulator.userId}
          placeholder={t.simulator.userIdPlaceholder}
          maxLength={1024}
          autoComplete="off"
          spellCheck={false}
          {...form.getInputProps("userId")}
        />
        <TextInput
          label={t.simulator.userEmail}
          placeholder={t.simulator.userEmailPlaceholder}
          maxLength={1024}
          autoComplete="off"
          spellCheck={false}
          {...form.getInputProps("userEmail")}
        />
        <AttributeFields
          attributes={form.values.attributes}
          known={attributesOf(rules, flag.stickiness)}
          onChange={(attributes) => form.setFieldValue("attributes", attributes)}
        />
      </Form>
      <div role="status" className={classes.answer}>
        {isSuccess && answer && (
          <>
            <Text component="div" fz="lg">
              <Answer on={answer.enabled} />
            </Text>
            <Text>{answer.reason}</Text>
            {answer.variant != null && (
              <Text className="break">{t.simulator.variant(answer.variant, JSON.stringify(answer.value))}</Text>
            )}
            <Text size="xs" c="dimmed" className="break">
              {nameOf(variables)}
            </Text>
          </>
        )}
        {isSuccess && !answer && <Text>{t.simulator.unknownFlag}</Text>}
        {isIdle && (
          <Text size="xs" c="dimmed">
            {t.simulator.idle}
          </Text>
        )}
      </div>
    </section>
  );
}

function nameOf({ userId, userEmail, attributes }: Asked): string {
  const given = attributes.filter(({ name }) => name.trim()).map(({ name, value }) => `${name.trim()}: ${value}`);
  return [userId, userEmail, ...given].filter(Boolean).join(", ") || t.simulator.forNobody;
}

const NOT_CUSTOM: ReadonlySet<string> = new Set([...BUILT_IN, DEFAULT_STICKINESS]);

/** The custom attributes that the flag's own rules and its buckets look at. */
function attributesOf(rules: readonly Rule[], stickiness: string): string[] {
  const used = rules.flatMap((rule) => rule.conditions.map((condition) => condition.attribute));
  return [...new Set([...used, stickiness])].filter((name) => !NOT_CUSTOM.has(name)).toSorted();
}
