/** A call of the management API as an example. It is copied with the token of the session, so that it runs at once. */

import { Text } from "@mantine/core";
import { currentSession } from "../api/session";
import { common } from "./commonTexts";
import { CodeBlock } from "./CodeBlock";

interface Props {
  readonly label: string;
  /** The call with a token; null stands for the variable that contains it. */
  readonly command: (token: string | null) => string;
}

export function ManagementCall({ label, command }: Props) {
  return (
    <>
      <CodeBlock
        code={command(null)}
        label={label}
        copied={command(currentSession()?.token ?? null)}
        copyLabel={common.copyWithToken}
      />
      <Text size="xs" c="dimmed">
        {common.tokenNote}
      </Text>
    </>
  );
}
