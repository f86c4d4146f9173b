/** How an application evaluates the flag: complete examples with the real key and environment. */

import { SegmentedControl, Stack, Text, Title } from "@mantine/core";
import { useState } from "react";
import type { FlagPlace } from "../lib/flagPlace";
import { evaluateSnippet, LANGUAGES, type Language, targetOf } from "../lib/snippets";
import { t } from "../texts";
import { CodeBlock } from "./CodeBlock";

export default function FlagUse(place: FlagPlace) {
  const [language, setLanguage] = useState<Language>("curl");
  return (
    <Stack gap="sm" maw={760}>
      <div>
        <Title order={2}>{t.code.heading}</Title>
        <Text c="dimmed">{t.code.intro}</Text>
      </div>
      <SegmentedControl
        w="fit-content"
        aria-label={t.code.languages}
        value={language}
        onChange={setLanguage}
        data={[...LANGUAGES]}
      />
      <CodeBlock code={evaluateSnippet(language, targetOf(place, place.flag.key))} label={language} />
      <Text size="xs" c="dimmed">
        {t.code.keyNote}
      </Text>
    </Stack>
  );
}
