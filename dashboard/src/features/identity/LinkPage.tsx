/** The page that the link in a mail opens. It asks first, because programs that check mails open links, too. */

import { Button, Text } from "@mantine/core";
import type { UseMutationResult } from "@tanstack/react-query";
import { lineOf } from "../../api/problem";
import { linkToken } from "./linkToken";
import { AnchorLink } from "../../ui/links";
import { Refusal } from "../../ui/Refusal";
import { AccountPage } from "./AccountForm";

interface Texts {
  readonly heading: string;
  readonly asks: string;
  readonly action: string;
  readonly done: string;
  readonly noToken: string;
  readonly toAccount: string;
}

interface Props {
  readonly path: string;
  readonly texts: Texts;
  readonly useAction: () => UseMutationResult<unknown, Error, string>;
}

export function LinkPage({ path, texts, useAction }: Props) {
  const token = linkToken(path);
  const { mutate, isPending, isSuccess, error } = useAction();
  return (
    <AccountPage heading={texts.heading}>
      <Text role="status" c="dimmed">
        {isSuccess ? texts.done : token === null ? texts.noToken : texts.asks}
      </Text>
      <Refusal text={error ? lineOf(error) : null} />
      {token !== null && !isSuccess && (
        <Button fullWidth loading={isPending} onClick={() => mutate(token)}>
          {texts.action}
        </Button>
      )}
      <AnchorLink to="/account" size="sm" ta="center">
        {texts.toAccount}
      </AnchorLink>
    </AccountPage>
  );
}
