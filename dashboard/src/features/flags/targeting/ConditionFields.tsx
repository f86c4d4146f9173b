/** The conditions of a rule or a segment, all of which must be met. */

import { type ReactNode, useId } from "react";
import { BUILT_IN } from "../../../ui/conditions/conditions";
import { type ConditionDraft, NEW_CONDITION } from "../../../ui/conditions/conditionDrafts";
import { conditionsTexts } from "../../../ui/conditions/conditionsTexts";
import { ConditionField } from "./ConditionField";
import { RowFields } from "../../../ui/RowFields";
import { Suggestions } from "../../../ui/Suggestions";

interface Props {
  readonly conditions: readonly ConditionDraft[];
  /** Errors by path, such as `conditions.1.values`. */
  readonly errors: Readonly<Record<string, ReactNode>>;
  readonly onChange: (conditions: ConditionDraft[]) => void;
}

export function ConditionFields({ conditions, errors, onChange }: Props) {
  const attributes = useId();
  return (
    <>
      <Suggestions id={attributes} texts={BUILT_IN} />
      <RowFields
        legend={conditionsTexts.heading}
        intro={conditions.length > 1 ? conditionsTexts.intro : conditionsTexts.introOne}
        rows={conditions}
        addText={conditionsTexts.add}
        error={errors.conditions}
        onChange={onChange}
        added={(all) => [...all, NEW_CONDITION]}
        render={(place) => <ConditionField {...place} attributes={attributes} errors={errors} />}
      />
    </>
  );
}
