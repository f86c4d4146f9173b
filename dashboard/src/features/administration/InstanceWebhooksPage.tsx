/** The webhooks of the whole instance. */

import { WebhookList } from "../webhooks/WebhookList";
import { webhooks as texts } from "../webhooks/webhooksTexts";

export function InstanceWebhooksPage() {
  return <WebhookList place={null} intro={texts.ofInstance} environments={[]} isShown />;
}
