/** How an application evaluates the flag: complete programs with the real URL and, if there is one, the key. */

import { SegmentedControl, Stack, Tabs, Text, Title } from "@mantine/core";
import { useState } from "react";
import type { CodeLanguage } from "../../ui/highlighting";
import type { FlagPlace } from "../../api/flagPlace";
import type { MadeKeys } from "./madeKeys";
import { NO_KEY } from "../../ui/snippets";
import { isLocal, keyKindOf, type Language, LANGUAGES, usageOf, type Way, waysOf } from "./usage";
import { usage as texts } from "./usageTexts";
import { CodeBlock } from "../../ui/CodeBlock";
import { EvidenceOfUse } from "./EvidenceOfUse";
import { UsageKey } from "./UsageKey";
import { serverAddress } from "../../api/server";

const CODE: Record<Language, CodeLanguage> = {
  curl: "bash",
  python: "python",
  node: "javascript",
  browser: "javascript",
  go: "go",
  java: "java",
  rust: "rust",
  ruby: "ruby",
  php: "php",
  dotnet: "csharp",
};

type Props = FlagPlace & { readonly madeKeys: MadeKeys };

export default function FlagUse({ madeKeys, ...place }: Props) {
  const [language, setLanguage] = useState<Language>("curl");
  const [wanted, setWanted] = useState<Way>("http");
  // The protocol that was chosen last may not exist for another language.
  const way = waysOf(language).includes(wanted) ? wanted : "http";
  const local = isLocal(language, way);
  return (
    <Stack gap="sm" maw={760}>
      <div>
        <Title order={2}>{texts.heading}</Title>
        <Text c="dimmed">{texts.intro}</Text>
      </div>
      <Tabs
        value={language}
        onChange={(chosen) => setLanguage(LANGUAGES.find((each) => each === chosen) ?? "curl")}
        variant="pills"
        keepMounted={false}
      >
        <Tabs.List mb="sm" aria-label={texts.languages}>
          {LANGUAGES.map((each) => (
            <Tabs.Tab key={each} value={each} px="sm">
              {texts.names[each]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {LANGUAGES.map((each) => (
          <Tabs.Panel key={each} value={each}>
            <Program {...place} madeKeys={madeKeys} language={each} way={way} onWay={setWanted} />
          </Tabs.Panel>
        ))}
      </Tabs>
      <EvidenceOfUse key={local ? "applications" : "evaluations"} path={place.path} isLocal={local} />
    </Stack>
  );
}

type ProgramProps = Props & {
  readonly language: Language;
  readonly way: Way;
  readonly onWay: (way: Way) => void;
};

function Program({ language, way, onWay, madeKeys, ...place }: ProgramProps) {
  const { project, environment, flag } = place;
  const name = texts.names[language];
  const ways = waysOf(language);
  const kind = keyKindOf(language);
  const made = madeKeys.find(environment, kind);
  // In a web page, the project's key would give everyone access to all of its environments.
  const ownKey = way === "http" && kind === "server" ? project.sdk_key : null;
  const { install, code } = usageOf(language, way, flag.variants, {
    address: serverAddress(),
    key: ownKey ?? made?.key ?? NO_KEY,
    environment: environment.key,
    flag: flag.key,
  });
  return (
    <Stack gap="sm">
      {ways.length > 1 && (
        <SegmentedControl
          w="fit-content"
          aria-label={texts.ways}
          value={way}
          onChange={onWay}
          data={ways.map((each) => ({ value: each, label: texts.wayNames[each] }))}
        />
      )}
      <Text size="sm">{texts.hints[language === "browser" && way !== "http" ? (`${way}Browser` as const) : way]}</Text>
      {install !== "" && <CodeBlock code={install} label={texts.install(name)} />}
      <CodeBlock code={code} label={texts.code(name)} language={CODE[language]} />
      <UsageKey {...place} kind={kind} isOwn={ownKey !== null} made={made} onMade={madeKeys.add} />
    </Stack>
  );
}
