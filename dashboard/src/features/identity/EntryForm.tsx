/** A form for signing in or registering with a password, and the identity providers that people can use instead. */

import { useState } from "react";
import { providerDemandedBy } from "./singleSignOnCalls";
import { AccountForm, type AccountFormProps } from "./AccountForm";
import { ProviderButtons } from "./ProviderButtons";

interface Props<Values extends object> extends AccountFormProps<Values> {
  /** The path of the page to open afterwards. */
  readonly returnTo: string;
  /** The name of the provider that the account has signed in at. */
  readonly provider?: string | undefined;
}

export function EntryForm<Values extends object>({ returnTo, provider, onSubmit, ...rest }: Props<Values>) {
  const [demanded, setDemanded] = useState<string | null>(null);
  const submit = async (values: Values) => {
    setDemanded(null);
    try {
      await onSubmit(values);
    } catch (error) {
      setDemanded(providerDemandedBy(error));
      throw error;
    }
  };
  return (
    <>
      <AccountForm onSubmit={submit} {...rest} />
      <ProviderButtons returnTo={returnTo} demanded={demanded} usual={provider} />
    </>
  );
}
