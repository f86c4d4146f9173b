/** The page that the link in a mail opens. It asks first, because programs that check mails open links, too. */

import { Button, Text } from "@mantine/core";
import { lineOf } from "../api/problem";
import { useUnsubscribe } from "../api/notifications";
import { AccountPage } from "../components/accounts/AccountForm";
import { AnchorLink } from "../components/shared/links";
import { Refusal } from "../components/shared/Refusal";
import { linkToken, UNSUBSCRIBE_PATH } from "../lib/signIn/linkToken";
import { notifications as texts } from "../texts/notifications";

export function Unsubscribe() {
  const token = linkToken(UNSUBSCRIBE_PATH);
  const { mutate, isPending, isSuccess, error } = useUnsubscribe();
  return (
    <AccountPage heading={texts.heading}>
      <Text role="status" c="dimmed">
        {isSuccess ? texts.unsubscribed : token === null ? texts.noToken : texts.unsubscribeText}
      </Text>
      <Refusal text={error ? lineOf(error) : null} />
      {token !== null && !isSuccess && (
        <Button fullWidth loading={isPending} onClick={() => mutate(token)}>
          {texts.unsubscribe}
        </Button>
      )}
      <AnchorLink to="/account" size="sm" ta="center">
        {texts.toAccount}
      </AnchorLink>
    </AccountPage>
  );
}
