/** The body of a message, in lines. */

import { readJson, writeJson } from "../../api/json";
import { CodeBlock } from "../../ui/CodeBlock";
import { webhooks as texts } from "./webhooksTexts";

export function MessageBody({ body }: { readonly body: string }) {
  return <CodeBlock code={writeJson(readJson(body), 2)} label={texts.body} language="json" />;
}
