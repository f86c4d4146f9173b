/** Stops the mails about a project, with the link in one of them. */

import { useUnsubscribe } from "./notificationsCalls";
import { LinkPage } from "../identity/LinkPage";
import { UNSUBSCRIBE_PATH } from "../identity/linkToken";
import { notifications as texts } from "./notificationsTexts";

const TEXTS = { ...texts, asks: texts.unsubscribeText, action: texts.unsubscribe, done: texts.unsubscribed };

export const UnsubscribePage = () => <LinkPage path={UNSUBSCRIBE_PATH} texts={TEXTS} useAction={useUnsubscribe} />;
