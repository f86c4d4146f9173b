/** The form for adding or editing a rule, in its dialog. */

import { Checkbox, NativeSelect, NumberInput, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import type { Flag, FlagPath, Rule, RuleType } from "../../api/client";
import { useCreateRule, useUpdateRule } from "../../api/rules";
import { newRuleDraft, ruleDraftOf, type RuleDraft, ruleOf, TYPES, withType } from "../../lib/ruleDrafts";
import { placeOfRule, withRule } from "../../lib/unsaved";
import { showAtFields } from "../../lib/useSubmission";
import { t } from "../../texts";
import { ConditionFields } from "./ConditionFields";
import { DialogForm } from "../shared/DialogForm";
import PercentageCommand from "./PercentageCommand";
import { Preview } from "../simulator/Preview";
import { RuleValueField } from "./RuleValueField";
import { Unfold } from "../shared/Unfold";

export interface RuleFormProps {
  readonly path: FlagPath;
  readonly flag: Flag;
  /** All rules of the flag. A new rule is added after them. */
  readonly rules: readonly Rule[];
  readonly rule?: Rule;
  readonly onClose: () => void;
}

export default function RuleForm({ path, flag, rules, rule, onClose }: RuleFormProps) {
  const create = useCreateRule(path);
  const update = useUpdateRule(path);
  const form = useForm<RuleDraft>({ initialValues: rule ? ruleDraftOf(rule) : newRuleDraft(rules) });
  const submit = async (values: RuleDraft) => {
    await (rule ? update.mutateAsync({ id: rule.id, ...ruleOf(values) }) : create.mutateAsync(ruleOf(values)));
    onClose();
  };
  return (
    <DialogForm
      form={form}
      action={rule ? t.save : t.rules.create}
      onSubmit={submit}
      onClose={onClose}
      aside={
        <Preview
          path={path}
          flag={flag}
          rules={rules}
          makeDraft={() => withRule(flag, rules, rule?.id ?? null, ruleOf(form.values))}
          fieldsAt={`flag.rules.${placeOfRule(rules, rule?.id ?? null)}.`}
          onInvalid={(problem) => showAtFields(form, problem)}
        />
      }
    >
      <NativeSelect
        label={t.rules.type}
        data={TYPES.map((value) => ({ value, label: t.rules.types[value] }))}
        {...form.getInputProps("rule_type")}
        onChange={(event) => form.setValues(withType(form.values, event.currentTarget.value as RuleType))}
      />
      <RuleValueField
        projectId={path.project_id}
        type={form.values.rule_type}
        input={form.getInputProps("rule_value")}
      />
      <ConditionFields
        conditions={form.values.conditions}
        errors={form.errors}
        onChange={(conditions) => {
          form.setErrors({});
          form.setFieldValue("conditions", conditions);
        }}
      />
      {flag.variants.length > 0 && (
        <NativeSelect
          label={t.variants.byRule}
          data={[
            { value: "", label: t.variants.byWeight },
            ...flag.variants.map(({ key }) => ({ value: key, label: key })),
          ]}
          {...form.getInputProps("variant")}
        />
      )}
      <TextInput
        label={`${t.rules.name} (${t.optional})`}
        placeholder={t.rules.namePlaceholder}
        maxLength={255}
        autoComplete="off"
        {...form.getInputProps("name")}
      />
      <NumberInput
        label={t.rules.priority}
        description={t.rules.priorityHint}
        allowDecimal={false}
        min={-(2 ** 31)}
        max={2 ** 31 - 1}
        {...form.getInputProps("priority")}
      />
      <Checkbox label={t.rules.enabled} {...form.getInputProps("enabled", { type: "checkbox" })} />
      {rule && <Share path={path} rule={rule} />}
    </DialogForm>
  );
}

function Share({ path, rule }: { path: FlagPath; rule: Rule }) {
  return (
    <div>
      <Text size="sm">{t.rules.share(rule.rollout_percentage)}</Text>
      <Unfold label={t.rules.setShare}>
        <PercentageCommand
          path={{ ...path, rule_id: rule.id }}
          label={t.rules.setShare}
          text={t.rules.setShareText}
          start={rule.rollout_percentage}
          min={1}
        />
      </Unfold>
    </div>
  );
}
