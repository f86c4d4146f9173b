/** The body of a message, in lines. */

import { readJson, writeJson } from "../../lib/json";
import { CodeBlock } from "../shared/CodeBlock";
import { webhooks as texts } from "../../texts/webhooks";

export function MessageBody({ body }: { readonly body: string }) {
  return <CodeBlock code={writeJson(readJson(body), 2)} label={texts.body} language="json" />;
}
