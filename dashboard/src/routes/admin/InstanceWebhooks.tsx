/** The webhooks of the whole instance. */

import { WebhookList } from "../../components/webhooks/WebhookList";
import { webhooks as texts } from "../../texts/webhooks";

export function InstanceWebhooks() {
  return <WebhookList place={null} intro={texts.ofInstance} environments={[]} isShown />;
}
