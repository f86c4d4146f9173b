/** For how many days evaluations and events are kept, if not for as long as elsewhere. */

import { NumberInput, type NumberInputProps } from "@mantine/core";
import { t } from "../../texts";
import { settings as texts } from "./projectsTexts";

export function KeptDaysField(props: NumberInputProps) {
  return (
    <NumberInput
      label={`${texts.keptDays} (${t.optional})`}
      min={1}
      allowDecimal={false}
      allowNegative={false}
      clampBehavior="none"
      maxLength={5}
      {...props}
    />
  );
}
