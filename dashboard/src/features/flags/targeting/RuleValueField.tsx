/** The value of a rule: a text, one of the project's segments, or nothing for a rule that only has conditions. */

import { NativeSelect, Text, TextInput } from "@mantine/core";
import type { GetInputPropsReturnType } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import type { RuleType } from "../../../api/client";
import { segmentsQuery } from "../segmentsCalls";
import { rulesTexts } from "../flagsTexts";
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
      label={rulesTexts.value}
      description={rulesTexts.valueHints[type]}
      placeholder={rulesTexts.placeholders[type]}
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
        label={rulesTexts.segment}
        data={[
          { value: "", label: rulesTexts.segmentChoose },
          ...(isMissing ? [{ value: chosen, label: chosen }] : []),
          ...known,
        ]}
        data-autofocus
        {...input}
      />
      {segments?.length === 0 && (
        <Text size="xs" c="dimmed" mt={4}>
          {rulesTexts.segmentNone}{" "}
          <AnchorLink to="/projects/$projectId/segments" params={{ projectId }} inherit>
            {rulesTexts.segmentLink}
          </AnchorLink>
        </Text>
      )}
    </div>
  );
}
