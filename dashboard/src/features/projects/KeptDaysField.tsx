/** For how many days evaluations and events are kept, if not for as long as elsewhere. */

import { NumberInput, type NumberInputProps } from "@mantine/core";
import { common } from "../../ui/commonTexts";
import { settings as texts } from "./projectsTexts";

export function KeptDaysField(props: NumberInputProps) {
  return (
    <NumberInput
      label={`${texts.keptDays} (${common.optional})`}
      min={1}
      allowDecimal={false}
      allowNegative={false}
      clampBehavior="none"
      maxLength={5}
      {...props}
    />
  );
}
