/** How an application asks for the flag: ready calls with the real key and environment. */

import { SegmentedControl, Stack, Text, Title } from "@mantine/core";
import { useState } from "react";
import type { FlagPlace } from "../lib/flagPlace";
import { evaluateSnippet, LANGUAGES, type Language } from "../lib/snippets";
import { t } from "../texts";
import { CodeBlock } from "./CodeBlock";

export function FlagUse({ project, environment, flag }: FlagPlace) {
  const [language, setLanguage] = useState<Language>("curl");
  const target = {
    origin: window.location.origin,
    sdkKey: project.sdk_key,
    environment: environment.key,
    flagKey: flag.key,
  };
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
      <CodeBlock code={evaluateSnippet(language, target)} label={language} />
      <Text size="xs" c="dimmed">
        {t.code.keyNote}
      </Text>
    </Stack>
  );
}
