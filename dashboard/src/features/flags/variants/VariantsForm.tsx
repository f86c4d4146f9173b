/** The form for a flag's variants, in its dialog. It divides users evenly, unless somebody gives variants other shares. */

import { Button, Group, NativeSelect, Text } from "@mantine/core";
import type { Flag, FlagPath, Rule } from "../../../api/client";
import { useUpdateFlag } from "../flagsCalls";
import {
  VALUE_TYPES,
  type ValueType,
  variantsDraftOf,
  type VariantsDraft,
  variantsOf,
  withAdded,
  withRemoved,
  withWeights,
} from "./variantDrafts";
import { isEven, scaled } from "../../../ui/weights";
import { draftOfFlag } from "../../../api/flagPlace";
import { useEditor } from "../../../ui/editing/useEditor";
import { useShares } from "./useShares";
import { showAtFields } from "../../../ui/useSubmission";
import { common } from "../../../ui/commonTexts";
import { variants as variantTexts } from "./variantsTexts";
import { DialogForm } from "../../../ui/DialogForm";
import { Preview } from "../../explanations/Preview";
import { RowFields } from "../../../ui/RowFields";
import { VariantField } from "./VariantField";
import { WeightBar } from "../../../ui/WeightBar";

interface Props {
  readonly path: FlagPath;
  readonly flag: Flag;
  readonly rules: readonly Rule[];
  readonly onClose: () => void;
}

export default function VariantsForm({ path, flag, rules, onClose }: Props) {
  const update = useUpdateFlag(path);
  const { form, submit, editing } = useEditor<Flag, VariantsDraft>({
    draft: draftOfFlag(flag, "variants"),
    projectId: flag.project_id,
    resourceId: flag.id,
    resource: flag,
    valuesOf: (saved) => ({ ...variantsDraftOf(saved.variants), ...(saved.variants.length === 0 && { variants: [] }) }),
    initial: variantsDraftOf(flag.variants),
    fieldsOf: (values) => ({ variants: variantsOf(values) }),
    send: (body, tag) => update.mutateAsync({ ...body, tag }),
    onDone: onClose,
  });
  const { type, variants } = form.values;
  const weights = variants.map((each) => each.weight);
  const shares = scaled(weights);
  const setWeights = (all: readonly number[]) => {
    form.setErrors({});
    form.setFieldValue("variants", withWeights(variants, all));
  };
  const setShare = useShares(shares, setWeights);
  return (
    <DialogForm
      form={form}
      action={common.save}
      onSubmit={submit}
      onClose={onClose}
      editing={editing}
      aside={
        <Preview
          path={path}
          flag={flag}
          rules={rules}
          makeDraft={() => ({ ...flag, rules: [...rules], variants: variantsOf(form.values) })}
          fieldsAt="flag."
          onInvalid={(problem) => showAtFields(form, problem)}
        />
      }
    >
      <NativeSelect
        label={variantTexts.type}
        data={VALUE_TYPES.map((value) => ({ value, label: variantTexts.types[value] }))}
        value={type}
        onChange={(event) => {
          form.setErrors({});
          form.setFieldValue("type", event.currentTarget.value as ValueType);
        }}
      />
      <RowFields
        legend={variantTexts.legend}
        rows={variants}
        addText={variantTexts.addOne}
        error={form.errors.variants}
        onChange={(changed) => {
          form.setErrors({});
          form.setFieldValue("variants", changed);
        }}
        added={withAdded}
        removed={withRemoved}
        render={(place) => (
          <VariantField
            {...place}
            type={type}
            share={shares[place.index] ?? 0}
            onShare={variants.length > 1 ? (share) => setShare(place.index, share) : undefined}
            errors={form.errors}
          />
        )}
      >
        {variants.length > 0 && <WeightBar weights={weights} />}
        <Group justify="space-between" gap="xs" wrap="nowrap">
          <Text size="xs" c="dimmed" role="status">
            {noteOn(
              flag.variants.map((each) => each.weight),
              weights,
            )}
          </Text>
          {variants.length > 1 && (
            <Button
              variant="default"
              size="xs"
              flex="none"
              disabled={isEven(weights)}
              onClick={() => setWeights(scaled(weights.map(() => 1)))}
            >
              {variantTexts.splitEvenly}
            </Button>
          )}
        </Group>
      </RowFields>
    </DialogForm>
  );
}

/** Says how saving changes the variants of users. */
function noteOn(before: readonly number[], after: readonly number[]): string {
  if (after.length === 0) return variantTexts.empty;
  const isKept = after.length >= before.length && after.every((weight, place) => weight === (before[place] ?? 0));
  if (isEven(after)) return isKept || before.length === 0 ? variantTexts.even : variantTexts.evenAgain;
  return isKept ? variantTexts.kept : variantTexts.moved;
}
