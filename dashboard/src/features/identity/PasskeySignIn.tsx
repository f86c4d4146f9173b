/** Signs in with a passkey instead of email and password; nothing in browsers without passkeys. */

import { Button } from "@mantine/core";
import { usePasskeySignIn } from "./passkeyLoginCalls";
import { lineOf } from "../../api/problem";
import { hasPasskeys } from "./passkeys";
import { secondFactor } from "./secondFactorTexts";
import { Refusal } from "../../ui/Refusal";

export function PasskeySignIn({ onDone }: { onDone: () => Promise<void> }) {
  const { mutate: signIn, isPending, error } = usePasskeySignIn();
  if (!hasPasskeys()) return null;
  return (
    <>
      <Button fullWidth variant="default" loading={isPending} onClick={() => signIn(undefined, { onSuccess: onDone })}>
        {secondFactor.signInWithPasskey}
      </Button>
      <Refusal text={error ? lineOf(error) : null} />
    </>
  );
}
