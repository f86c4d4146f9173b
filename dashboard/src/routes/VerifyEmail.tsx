/** The page that the link in a mail opens. It asks first, because programs that check mails open links, too. */

import { Button, Text } from "@mantine/core";
import { useVerifyEmail } from "../api/ownAccount";
import { lineOf } from "../api/problem";
import { AccountPage } from "../components/accounts/AccountForm";
import { AnchorLink } from "../components/shared/links";
import { Refusal } from "../components/shared/Refusal";
import { linkToken, VERIFY_EMAIL_PATH } from "../lib/signIn/linkToken";
import { emailVerification as texts } from "../texts/emailVerification";

export function VerifyEmail() {
  const token = linkToken(VERIFY_EMAIL_PATH);
  const { mutate, isPending, isSuccess, error } = useVerifyEmail();
  return (
    <AccountPage heading={texts.heading}>
      <Text role="status" c="dimmed">
        {isSuccess ? texts.verified : token === null ? texts.noToken : texts.text}
      </Text>
      <Refusal text={error ? lineOf(error) : null} />
      {token !== null && !isSuccess && (
        <Button fullWidth loading={isPending} onClick={() => mutate(token)}>
          {texts.verify}
        </Button>
      )}
      <AnchorLink to="/account" size="sm" ta="center">
        {texts.toAccount}
      </AnchorLink>
    </AccountPage>
  );
}
