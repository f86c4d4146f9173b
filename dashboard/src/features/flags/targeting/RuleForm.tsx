/** The form for adding or editing a rule, in its dialog. */

import { ruleTexts } from "../../../ui/conditions/ruleTexts";
import { Checkbox, NativeSelect, Text, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import type { Flag, FlagPath, Rule, RuleType } from "../../../api/client";
import { useCreateRule, useUpdateRule } from "../rulesCalls";
import { ruleInWords } from "../../../ui/conditions/audience";
import { draftOfRule } from "../../../api/flagPlace";
import { placesAmong } from "./priorities";
import { newRuleDraft, ruleDraftOf, type RuleDraft, ruleOf, TYPES, withType } from "./ruleDrafts";
import { placeOfRule, withRule } from "../../explanations/unsaved";
import { useDraft } from "../../../ui/editing/useDraft";
import { useEditor } from "../../../ui/editing/useEditor";
import { showAtFields } from "../../../ui/useSubmission";
import { rulesTexts } from "../flagsTexts";
import { common } from "../../../ui/commonTexts";
import { variants as variantTexts } from "../variants/variantsTexts";
import { ConditionFields } from "./ConditionFields";
import { DialogForm, type Editing } from "../../../ui/DialogForm";
import PercentageCommand from "./PercentageCommand";
import { Preview } from "../../explanations/Preview";
import { RuleValueField } from "./RuleValueField";
import { Unfold } from "../../../ui/Unfold";

export interface RuleFormProps {
  readonly path: FlagPath;
  readonly flag: Flag;
  /** All rules of the flag. A new rule is added after them. */
  readonly rules: readonly Rule[];
  readonly rule?: Rule;
  readonly onClose: () => void;
}

export default function RuleForm({ rule, ...props }: RuleFormProps) {
  return rule ? <EditRule {...props} rule={rule} /> : <AddRule {...props} />;
}

type Props = Omit<RuleFormProps, "rule">;

function AddRule(props: Props) {
  const { path, rules, onClose } = props;
  const create = useCreateRule(path);
  const draft = useDraft<RuleDraft>(draftOfRule(path), newRuleDraft(rules));
  const submit = async (values: RuleDraft) => {
    await create.mutateAsync(ruleOf(values));
    draft.end();
    onClose();
  };
  return <RuleFields {...props} form={draft.form} onSubmit={submit} editing={{ draft }} />;
}

function EditRule({ rule, ...props }: Props & { readonly rule: Rule }) {
  const { path, onClose } = props;
  const update = useUpdateRule(path);
  const { form, submit, editing } = useEditor<Rule, RuleDraft>({
    draft: draftOfRule(path, rule),
    projectId: path.project_id,
    resourceId: rule.id,
    resource: rule,
    valuesOf: ruleDraftOf,
    fieldsOf: ruleOf,
    send: (body, tag) => update.mutateAsync({ ...body, id: rule.id, tag }),
    onDone: onClose,
  });
  return <RuleFields {...props} rule={rule} form={form} onSubmit={submit} editing={editing} />;
}

interface FieldsProps extends RuleFormProps {
  readonly form: UseFormReturnType<RuleDraft>;
  readonly onSubmit: (values: RuleDraft) => Promise<void>;
  readonly editing: Editing;
}

function RuleFields({ path, flag, rules, rule, onClose, form, onSubmit, editing }: FieldsProps) {
  const others = rules.filter((each) => each.id !== rule?.id);
  const words = new Map(others.map((each) => [each.id, ruleInWords(each)]));
  return (
    <DialogForm
      form={form}
      action={rule ? common.save : rulesTexts.create}
      onSubmit={onSubmit}
      onClose={onClose}
      editing={editing}
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
        label={rulesTexts.type}
        data={TYPES.map((value) => ({ value, label: ruleTexts.types[value] }))}
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
          label={variantTexts.byRule}
          data={[
            { value: "", label: variantTexts.byWeight },
            ...flag.variants.map(({ key }) => ({ value: key, label: key })),
          ]}
          {...form.getInputProps("variant")}
        />
      )}
      <TextInput
        label={`${rulesTexts.name} (${common.optional})`}
        placeholder={rulesTexts.namePlaceholder}
        maxLength={255}
        autoComplete="off"
        {...form.getInputProps("name")}
      />
      {others.length > 0 && (
        <NativeSelect
          label={rulesTexts.order}
          description={rulesTexts.orderHint}
          data={placesAmong(others, form.values.priority).map(({ after, priority }) => ({
            value: String(priority),
            label: after === null ? rulesTexts.first : rulesTexts.after(words.get(after) ?? ""),
          }))}
          value={String(form.values.priority)}
          onChange={(event) => form.setFieldValue("priority", Number(event.currentTarget.value))}
          error={form.errors.priority}
        />
      )}
      <Checkbox label={rulesTexts.enabled} {...form.getInputProps("enabled", { type: "checkbox" })} />
      {rule && <Share path={path} flag={flag} rules={rules} rule={rule} />}
    </DialogForm>
  );
}

function Share({ path, flag, rules, rule }: Omit<Props, "onClose"> & { readonly rule: Rule }) {
  const withShare = (share: number) =>
    rules.map((each) => (each.id === rule.id ? { ...each, rollout_percentage: share } : each));
  return (
    <div>
      <Text size="sm">{rulesTexts.share(rule.rollout_percentage)}</Text>
      <Unfold label={rulesTexts.setShare}>
        <PercentageCommand
          path={{ ...path, rule_id: rule.id }}
          label={rulesTexts.setShare}
          text={rulesTexts.setShareText}
          start={rule.rollout_percentage}
          min={1}
          saved={rule.rollout_percentage}
          draftOf={(share) => ({ ...flag, rules: withShare(share) })}
        />
      </Unfold>
    </div>
  );
}
