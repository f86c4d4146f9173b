/** The body of a message, in lines. */

import { CodeBlock } from "../shared/CodeBlock";
import { webhooks as texts } from "../../texts/webhooks";

export function MessageBody({ body }: { readonly body: string }) {
  return <CodeBlock code={JSON.stringify(JSON.parse(body), null, 2)} label={texts.body} language="json" />;
}
