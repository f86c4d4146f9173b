/** What would this user get, and why? The real endpoint answers. */

import { Button, Stack, Text, TextInput, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { type Asked, useEvaluate } from "../api/evaluate";
import type { FlagPlace } from "../lib/flagPlace";
import { useRefusal } from "../lib/useRefusal";
import { t } from "../texts";
import { Answer } from "./Answer";
import { Refusal } from "./Refusal";
import classes from "./Simulator.module.css";

export function Simulator({ project, environment, flag }: FlagPlace) {
  const form = useForm<Asked>({ initialValues: { userId: "", userEmail: "" } });
  const refusal = useRefusal(form);
  const { mutate, data, variables, isPending, isSuccess } = useEvaluate(project.sdk_key, environment);
  const submit = form.onSubmit((asked) => mutate(asked, { onError: refusal.show, onSuccess: refusal.clear }));
  const answer = data && Object.hasOwn(data.flags, flag.key) ? data.flags[flag.key] : undefined;
  return (
    <section className={classes.simulator} aria-label={t.simulator.heading}>
      <Title order={2}>{t.simulator.heading}</Title>
      <Text c="dimmed" size="sm" mb="sm">
        {t.simulator.intro}
      </Text>
      <form onSubmit={submit} noValidate>
        <Stack gap="xs">
          <TextInput
            label={t.simulator.userId}
            placeholder="user-42"
            autoComplete="off"
            spellCheck={false}
            {...form.getInputProps("userId")}
          />
          <TextInput
            label={t.simulator.userEmail}
            placeholder="ada@acme.com"
            autoComplete="off"
            spellCheck={false}
            {...form.getInputProps("userEmail")}
          />
          <Refusal text={refusal.refusal} />
          <Button type="submit" variant="default" loading={isPending} mt={4}>
            {t.simulator.ask}
          </Button>
        </Stack>
      </form>
      <div role="status" className={classes.answer}>
        {isSuccess && answer && (
          <>
            <Text component="div" fz="lg">
              <Answer on={answer.enabled} />
            </Text>
            <Text>{answer.reason}</Text>
            <Text size="xs" c="dimmed" className="break">
              {nameOf(variables)}
            </Text>
          </>
        )}
        {isSuccess && !answer && <Text>{t.simulator.unknownFlag}</Text>}
        {!isSuccess && !refusal.refusal && (
          <Text size="xs" c="dimmed">
            {t.simulator.idle}
          </Text>
        )}
      </div>
    </section>
  );
}

function nameOf({ userId, userEmail }: Asked): string {
  return [userId, userEmail].filter(Boolean).join(", ") || t.simulator.forNobody;
}
