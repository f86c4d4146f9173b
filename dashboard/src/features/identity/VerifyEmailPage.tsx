/** Verifies the address of an account, with the link in a mail. */

import { useVerifyEmail } from "./ownAccountCalls";
import { LinkPage } from "./LinkPage";
import { VERIFY_EMAIL_PATH } from "./linkToken";
import { emailVerification as texts } from "./emailVerificationTexts";

const TEXTS = { ...texts, asks: texts.text, action: texts.verify, done: texts.verified };

export const VerifyEmailPage = () => <LinkPage path={VERIFY_EMAIL_PATH} texts={TEXTS} useAction={useVerifyEmail} />;
