/** Verifies the address of an account, with the link in a mail. */

import { useVerifyEmail } from "../api/ownAccount";
import { LinkPage } from "../components/accounts/LinkPage";
import { VERIFY_EMAIL_PATH } from "../lib/signIn/linkToken";
import { emailVerification as texts } from "../texts/emailVerification";

const TEXTS = { ...texts, asks: texts.text, action: texts.verify, done: texts.verified };

export const VerifyEmail = () => <LinkPage path={VERIFY_EMAIL_PATH} texts={TEXTS} useAction={useVerifyEmail} />;
