/** The dialog for adding or editing a rule. */

import { Checkbox, Modal, NativeSelect, NumberInput, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import type { FlagPath, NewRule, Rule, RuleType } from "../api/client";
import { useCreateRule, useUpdateRule } from "../api/rules";
import { priorityAtEnd } from "../lib/priorities";
import type { DialogProps } from "../lib/useDialog";
import { t } from "../texts";
import { DialogForm } from "./DialogForm";

interface Props extends DialogProps {
  readonly path: FlagPath;
  /** The existing rules. A new rule is added after them. */
  readonly rules: readonly Rule[];
  readonly rule?: Rule;
}

const TYPES: readonly RuleType[] = ["user_id", "user_email", "email_domain", "segment"];

type Values = Required<Pick<NewRule, "rule_type" | "priority" | "enabled">> & { rule_value: string };

export function RuleDialog(props: Props) {
  return (
    <Modal title={props.rule ? t.rules.editHeading : t.rules.addHeading} opened={props.opened} onClose={props.onClose}>
      <RuleForm {...props} />
    </Modal>
  );
}

function RuleForm({ path, rules, rule, onClose }: Props) {
  const create = useCreateRule(path);
  const update = useUpdateRule(path);
  const form = useForm<Values>({
    initialValues: rule
      ? { rule_type: rule.rule_type, rule_value: rule.rule_value ?? "", priority: rule.priority, enabled: rule.enabled }
      : { rule_type: "user_email", rule_value: "", priority: priorityAtEnd(rules), enabled: true },
  });
  const hasValue = form.values.rule_type !== "attributes";
  const submit = async (given: Values) => {
    const values = { ...given, rule_value: hasValue ? given.rule_value : null };
    await (rule ? update.mutateAsync({ id: rule.id, ...values }) : create.mutateAsync(values));
    onClose();
  };
  const type = form.values.rule_type;
  return (
    <DialogForm form={form} action={rule ? t.save : t.rules.create} onSubmit={submit} onClose={onClose}>
      <NativeSelect
        label={t.rules.type}
        data={(hasValue ? TYPES : [type]).map((value) => ({ value, label: t.rules.types[value] }))}
        {...form.getInputProps("rule_type")}
      />
      {hasValue && (
        <TextInput
          label={t.rules.value}
          description={t.rules.valueHints[type]}
          placeholder={t.rules.placeholders[type]}
          maxLength={1024}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          {...form.getInputProps("rule_value")}
        />
      )}
      <NumberInput
        label={t.rules.priority}
        description={t.rules.priorityHint}
        allowDecimal={false}
        min={-(2 ** 31)}
        max={2 ** 31 - 1}
        {...form.getInputProps("priority")}
      />
      <Checkbox label={t.rules.enabled} {...form.getInputProps("enabled", { type: "checkbox" })} />
    </DialogForm>
  );
}
