/** Recovery codes, which are shown once: to copy, to save as a file, and to confirm that they are kept. */

import { Button, Group, Stack, Text } from "@mantine/core";
import { codesFile } from "./recoveryCodes";
import { download } from "../../ui/download";
import { currentSession } from "../../api/session";
import { twoFactor as texts } from "./twoFactorTexts";
import { CopyButton } from "../../ui/CopyButton";
import classes from "./RecoveryCodes.module.css";
import { serverAddress } from "../../api/server";

interface Props {
  readonly codes: readonly string[];
  readonly onStored: () => void;
}

export function RecoveryCodes({ codes, onStored }: Props) {
  return (
    <Stack gap="md">
      <Text>{texts.codesText}</Text>
      <ul className={classes.codes} aria-label={texts.codes}>
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <Group justify="space-between" gap="xs">
        <Group gap="xs">
          <CopyButton size="sm" text={codes.join("\n")} label={texts.copyCodes} data-autofocus />
          <Button variant="default" onClick={() => save(codes)}>
            {texts.download}
          </Button>
        </Group>
        <Button onClick={onStored}>{texts.stored}</Button>
      </Group>
    </Stack>
  );
}

function save(codes: readonly string[]): void {
  const text = codesFile(codes, currentSession()?.email ?? "", serverAddress());
  download(new Blob([text], { type: "text/plain" }), texts.fileName);
}
