/** The value of a rule: a text, one of the project's segments, or nothing for a rule that only has conditions. */

import { NativeSelect, Text, TextInput } from "@mantine/core";
import type { GetInputPropsReturnType } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import type { RuleType } from "../../../api/client";
import { segmentsQuery } from "../segmentsCalls";
import { t } from "../../../texts";
import { AnchorLink } from "../../../ui/links";

interface Props {
  readonly projectId: string;
  readonly type: RuleType;
  readonly input: GetInputPropsReturnType;
}

export function RuleValueField({ projectId, type, input }: Props) {
  if (type === "attributes") return null;
  if (type === "segment") return <SegmentField projectId={projectId} input={input} />;
  return (
    <TextInput
      label={t.rules.value}
      description={t.rules.valueHints[type]}
      placeholder={t.rules.placeholders[type]}
      maxLength={1024}
      autoComplete="off"
      spellCheck={false}
      data-autofocus
      {...input}
    />
  );
}

function SegmentField({ projectId, input }: Pick<Props, "projectId" | "input">) {
  const { data: segments } = useQuery(segmentsQuery(projectId));
  const chosen = String(input.value);
  const known = (segments ?? []).map(({ key, name }) => ({ value: key, label: `${name} (${key})` }));
  const isMissing = chosen !== "" && !known.some((each) => each.value === chosen);
  return (
    <div>
      <NativeSelect
        label={t.rules.segment}
        data={[
          { value: "", label: t.rules.segmentChoose },
          ...(isMissing ? [{ value: chosen, label: chosen }] : []),
          ...known,
        ]}
        data-autofocus
        {...input}
      />
      {segments?.length === 0 && (
        <Text size="xs" c="dimmed" mt={4}>
          {t.rules.segmentNone}{" "}
          <AnchorLink to="/projects/$projectId/segments" params={{ projectId }} inherit>
            {t.rules.segmentLink}
          </AnchorLink>
        </Text>
      )}
    </div>
  );
}
