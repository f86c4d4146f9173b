/** Stops the mails about a project, with the link in one of them. */

import { useUnsubscribe } from "../api/notifications";
import { LinkPage } from "../components/accounts/LinkPage";
import { UNSUBSCRIBE_PATH } from "../lib/signIn/linkToken";
import { notifications as texts } from "../texts/notifications";

const TEXTS = { ...texts, asks: texts.unsubscribeText, action: texts.unsubscribe, done: texts.unsubscribed };

export const Unsubscribe = () => <LinkPage path={UNSUBSCRIBE_PATH} texts={TEXTS} useAction={useUnsubscribe} />;
