/** Asks for a user and shows what the user would get from a flag, and why. */

import { Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { lazy, Suspense, useEffect, useRef } from "react";
import type { Flag, FlagPath, Rule } from "../../api/client";
import { type Explanation, type FlagDraft, useExplain, useLastAsked } from "./explainCalls";
import { type SimulatedUser, nameOf, NOBODY } from "./simulatedUser";
import { DEFAULT_STICKINESS } from "../../ui/conditions/audience";
import { BUILT_IN } from "../../ui/conditions/conditions";
import { writeJson } from "../../api/json";
import { simulatorTexts } from "./simulatorTexts";
import { Answer } from "../../ui/Answer";
import { AttributeFields } from "./AttributeFields";
import { Form } from "../../ui/Form";
import { GuardedButton } from "../../ui/GuardedButton";
import { RowsSkeleton } from "../../ui/PageSkeleton";
import classes from "./TryIt.module.css";

const Trace = lazy(() => import("./Trace"));

interface Props {
  readonly path: FlagPath;
  readonly flag: Flag;
  /** Undefined until they are known. */
  readonly rules: readonly Rule[] | undefined;
  /** Returns the flag to explain instead of the saved one; may throw. */
  readonly makeDraft?: () => FlagDraft;
  /** Returns what to show instead of an error. */
  readonly onRefused?: (error: unknown) => unknown;
}

export function TryIt({ path, flag, rules, makeDraft, onRefused = (error) => error }: Props) {
  const { last = NOBODY, remember } = useLastAsked(path);
  const form = useForm<SimulatedUser>({ initialValues: last });
  const { mutateAsync, data: trace, variables, isSuccess, isIdle, reset } = useExplain(path, flag.key);
  // Without the times of changes: those made here are shown before they are stored, and get their times later.
  const saved = rules && JSON.stringify([flag, ...rules].map((each) => ({ ...each, updated_at: null })));
  const known = useRef(saved);
  useEffect(() => {
    if (known.current !== undefined && known.current !== saved) reset(); // a result of the previous state would mislead
    known.current = saved;
  }, [reset, saved]);
  const submit = async (asked: SimulatedUser) => {
    remember(asked);
    try {
      await mutateAsync({ asked, draft: makeDraft?.() ?? null });
    } catch (error) {
      throw onRefused(error);
    }
  };
  const ask = (busy: boolean) => (
    <GuardedButton needs="flags:read" type="submit" variant="default" loading={busy}>
      {simulatorTexts.ask}
    </GuardedButton>
  );
  return (
    <>
      <Form form={form} onSubmit={submit} buttons={ask}>
        <TextInput
          label={simulatorTexts.userId}
          placeholder={simulatorTexts.userIdPlaceholder}
          maxLength={1024}
          autoComplete="off"
          spellCheck={false}
          {...form.getInputProps("userId")}
        />
        <TextInput
          label={simulatorTexts.userEmail}
          placeholder={simulatorTexts.userEmailPlaceholder}
          maxLength={1024}
          autoComplete="off"
          spellCheck={false}
          {...form.getInputProps("userEmail")}
        />
        <AttributeFields
          attributes={form.values.attributes}
          known={attributesOf(rules ?? [], flag.stickiness)}
          errors={form.errors}
          onChange={(attributes) => {
            form.setErrors({});
            form.setFieldValue("attributes", attributes);
          }}
        />
      </Form>
      <div role="status" className={classes.answer}>
        {isSuccess && trace && <Result trace={trace} user={nameOf(variables.asked)} />}
        {isIdle && (
          <Text size="xs" c="dimmed">
            {simulatorTexts.idle}
          </Text>
        )}
      </div>
      {isSuccess && trace && (
        <Suspense fallback={<RowsSkeleton rows={3} />}>
          <Trace trace={trace} />
        </Suspense>
      )}
    </>
  );
}

function Result({ trace, user }: { trace: Explanation; user: string }) {
  return (
    <>
      <Text component="div" fz="lg">
        <Answer on={trace.enabled} />
      </Text>
      <Text>{trace.reason}</Text>
      {trace.variant != null && (
        <Text className="break">{simulatorTexts.variant(trace.variant, writeJson(trace.value))}</Text>
      )}
      <Text size="xs" c="dimmed" className="break">
        {user}
      </Text>
    </>
  );
}

const NOT_CUSTOM: ReadonlySet<string> = new Set([...BUILT_IN, DEFAULT_STICKINESS]);

/** The custom attributes that the flag's own rules and buckets use. */
function attributesOf(rules: readonly Rule[], stickiness: string): string[] {
  const used = rules.flatMap((rule) => rule.conditions.map((condition) => condition.attribute));
  return [...new Set([...used, stickiness])].filter((name) => !NOT_CUSTOM.has(name)).toSorted();
}
