/** The origins of the pages that may use a browser's key. */

import { TagsInput, type TagsInputProps } from "@mantine/core";
import { common } from "../../ui/commonTexts";
import { sdkKeys as texts } from "./sdkKeysTexts";

export function OriginsField(props: TagsInputProps) {
  return (
    <TagsInput
      label={`${texts.origins} (${common.optional})`}
      description={texts.originsHint}
      placeholder={props.value?.length ? "" : texts.originsPlaceholder}
      maxTags={50}
      splitChars={[",", " ", "\n"]}
      acceptValueOnBlur
      inputMode="url"
      autoCapitalize="none"
      autoComplete="off"
      spellCheck={false}
      {...props}
    />
  );
}
