import { Alert, Loader } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { useProviderAnswer } from "../api/accounts";
import { AccountPage } from "../components/AccountForm";
import { AnchorLink } from "../components/links";
import { providerAnswer } from "../lib/providerAnswer";
import { safeNext } from "../lib/search";
import { t } from "../texts";

/** The page to which identity providers send people back. */
export function ProviderSignIn() {
  const navigate = useNavigate();
  const answer = providerAnswer();
  const { mutate: complete, error } = useProviderAnswer();
  const isSent = useRef(false); // an answer works once
  useEffect(() => {
    if (!answer || isSent.current) return;
    isSent.current = true;
    complete(answer, { onSuccess: (returnTo) => void navigate({ href: safeNext(returnTo), replace: true }) });
  }, [answer, complete, navigate]);
  return (
    <AccountPage heading={t.accounts.signIn}>
      {answer && !error ? (
        <Loader mx="auto" aria-label={t.accounts.signingIn} />
      ) : (
        <Alert color="signal" variant="light" py="xs" role="alert">
          {error?.message ?? t.accounts.noAnswer}
        </Alert>
      )}
      <AnchorLink to="/sign-in" size="sm" ta="center">
        {t.accounts.backToSignIn}
      </AnchorLink>
    </AccountPage>
  );
}
