/** Chooses when an access token or an SDK key expires. */

import { NativeSelect, Text, TextInput } from "@mantine/core";
import { EXPIRIES, type ExpiryDraft } from "./expiry";
import { tokens as tokenTexts } from "./tokensTexts";

/** The properties of an input of a form that are used here. */
interface InputProps {
  readonly error?: string;
}

interface Props {
  readonly choice: ExpiryDraft["expires_at"];
  readonly select: InputProps;
  readonly date: InputProps;
  readonly neverHint: string;
}

export function ExpiryFields({ choice, select: { error, ...select }, date, neverHint }: Props) {
  const hasDate = choice === "date";
  return (
    <>
      <NativeSelect
        label={tokenTexts.expiry}
        data={EXPIRIES.map((value) => ({ value, label: tokenTexts.expiries[value] }))}
        {...select}
        error={hasDate ? undefined : error}
      />
      {hasDate && (
        <TextInput type="date" label={tokenTexts.date} {...date} error={date.error ?? error} max="9999-12-31" />
      )}
      {choice === "never" && (
        <Text size="sm" c="dimmed" role="status">
          {neverHint}
        </Text>
      )}
    </>
  );
}
