import { Loader } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { lineOf } from "../../api/problem";
import { secondStepOf, useProviderAnswer } from "./singleSignOnCalls";
import { AccountPage } from "./AccountForm";
import { SecondFactorStep } from "./SecondFactorStep";
import { AnchorLink } from "../../ui/links";
import { Refusal } from "../../ui/Refusal";
import { type Arrival, arrival } from "./providerAnswer";
import { nextHref } from "../../ui/search";
import { accountsTexts } from "./accountsTexts";
import { singleSignOn as texts } from "./singleSignOnTexts";

const CANCELLED = "access_denied"; // OAuth's name for a refusal by the person or the provider

/** The page to which identity providers send people back. */
export function ProviderSignInPage() {
  const navigate = useNavigate();
  const arrived = arrival();
  const { mutate: complete, error } = useProviderAnswer();
  const isSent = useRef(false); // an answer works once
  useEffect(() => {
    if (arrived.kind !== "answered" || isSent.current) return;
    isSent.current = true;
    complete(arrived.answer, { onSuccess: (returnTo) => void navigate({ href: nextHref(returnTo), replace: true }) });
  }, [arrived, complete, navigate]);
  const [endedBecause, setEnded] = useState<string | null>(null);
  const step = arrived.kind === "answered" ? secondStepOf(error, arrived.answer.provider) : null;
  const refusal = endedBecause ?? (error ? lineOf(error) : refusalOf(arrived));
  const next = arrived.kind === "unasked" || arrived.returnTo === "/" ? {} : { next: arrived.returnTo };
  if (step && endedBecause === null) {
    return (
      <SecondFactorStep
        challenge={step.challenge}
        Frame={AccountPage}
        onDone={() => navigate({ href: nextHref(step.returnTo), replace: true })}
        onBack={(reason) => (reason === null ? void navigate({ to: "/sign-in", search: next }) : setEnded(reason))}
      />
    );
  }
  return (
    <AccountPage heading={accountsTexts.signIn}>
      {refusal === null && <Loader mx="auto" aria-label={texts.signingIn} />}
      <Refusal text={refusal} />
      <AnchorLink to="/sign-in" search={next} size="sm" ta="center">
        {accountsTexts.backToSignIn}
      </AnchorLink>
    </AccountPage>
  );
}

function refusalOf(arrived: Arrival): string | null {
  if (arrived.kind === "answered") return null;
  if (arrived.kind === "unasked") return texts.unasked;
  const { reason, provider } = arrived;
  return reason === CANCELLED ? texts.cancelled(provider) : texts.refused(provider);
}
