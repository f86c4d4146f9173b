/** Custom attributes, as pairs of a name and a value. */

import { Text } from "@mantine/core";
import { lazy, type ReactNode, Suspense, useId } from "react";
import type { Attribute } from "./simulatedUser";
import { simulatorTexts } from "./simulatorTexts";
import { RowFields } from "../../ui/RowFields";
import { Suggestions } from "../../ui/Suggestions";

const AttributeField = lazy(() => import("./AttributeField")); // most people ask without attributes

interface Props {
  readonly attributes: readonly Attribute[];
  /** Names to suggest. */
  readonly known: readonly string[];
  readonly errors: Readonly<Record<string, ReactNode>>;
  readonly onChange: (attributes: Attribute[]) => void;
}

export function AttributeFields({ attributes, known, errors, onChange }: Props) {
  const names = useId();
  const added = (all: readonly Attribute[]) => {
    const unused = known.find((name) => !all.some((each) => each.name === name));
    return [...all, { name: unused ?? "", type: "text" as const, text: "" }];
  };
  return (
    <>
      <Suggestions id={names} texts={known} />
      <RowFields
        legend={simulatorTexts.attributes}
        rows={attributes}
        addText={simulatorTexts.addAttribute}
        onChange={onChange}
        added={added}
        render={(place) => (
          <Suspense>
            <AttributeField {...place} names={names} error={errors[`attributes.${place.index}.text`]} />
          </Suspense>
        )}
      >
        {attributes.length > 0 && (
          <Text size="xs" c="dimmed">
            {simulatorTexts.attributesNote}
          </Text>
        )}
      </RowFields>
    </>
  );
}
