/** Signing in again in place, over the page that was open when the session ended. */

import { Alert, Button, Modal, Stack } from "@mantine/core";
import { useLocation } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { leaveInterrupted, type Session, sessionEnding } from "../../api/session";
import { accountsTexts } from "./accountsTexts";
import { signInAgain as texts } from "./signInAgainTexts";
import { SignInSteps } from "./SignInSteps";

export default function SignInDialog({ session }: { session: Session }) {
  const here = useLocation({ select: ({ href }) => href });
  return (
    <Modal
      opened
      onClose={leaveInterrupted}
      title={accountsTexts.signIn}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      overlayProps={{ blur: 8 }}
      zIndex={300} // over the dialog that may be open
    >
      <SignInSteps
        email={session.email}
        provider={session.provider}
        returnTo={here}
        onDone={() => Promise.resolve()} // the beginning of the session closes the dialog
        Frame={Frame}
        before={
          <Alert color="signal" variant="light" py="xs">
            {sessionEnding() === "elsewhere" ? accountsTexts.endedElsewhere : accountsTexts.expired} {texts.kept}
          </Alert>
        }
        after={
          <Button variant="subtle" size="sm" onClick={leaveInterrupted}>
            {texts.leave}
          </Button>
        }
      />
    </Modal>
  );
}

function Frame({ children }: { children: ReactNode }) {
  return <Stack gap="md">{children}</Stack>;
}
