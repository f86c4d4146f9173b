/** The identity providers at which people can sign in; nothing if there are none. */

import { Button, Divider, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { lineOf } from "../../api/problem";
import { type Provider, providersQuery, useBeginSignIn } from "./singleSignOnCalls";
import { singleSignOn as texts } from "./singleSignOnTexts";
import { Refusal } from "../../ui/Refusal";

interface Props {
  /** The path of the page to open afterwards. */
  readonly returnTo: string;
  /** The key of the provider that the account needs, which gets the focus. */
  readonly demanded: string | null;
  /** The name of the provider that the account has signed in at. */
  readonly usual?: string | undefined;
}

export function ProviderButtons({ returnTo, demanded, usual }: Props) {
  const { data: providers = [] } = useQuery({ ...providersQuery, staleTime: "static" });
  const { mutate: begin, isPending, variables, error } = useBeginSignIn(returnTo);
  if (providers.length === 0) return null;
  return (
    <Stack gap="sm">
      <Divider label={texts.or} />
      {providers.map((each) => (
        <ProviderButton
          key={each.key}
          provider={each}
          isDemanded={each.key === demanded || each.name === usual}
          isPending={isPending && variables.key === each.key}
          onClick={() => begin(each)}
        />
      ))}
      <Refusal text={error ? lineOf(error) : null} />
    </Stack>
  );
}

interface ButtonProps {
  readonly provider: Provider;
  readonly isDemanded: boolean;
  readonly isPending: boolean;
  readonly onClick: () => void;
}

function ProviderButton({ provider, isDemanded, isPending, onClick }: ButtonProps) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isDemanded) button.current?.focus();
  }, [isDemanded]);
  return (
    <Button ref={button} fullWidth variant={isDemanded ? "filled" : "default"} loading={isPending} onClick={onClick}>
      {texts.continueWith(provider.name)}
    </Button>
  );
}
