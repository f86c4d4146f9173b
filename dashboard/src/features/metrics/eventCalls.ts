/**
 * Programs that send an event of a metric. None of the values needs quoting: keys consist of letters, digits and a few
 * signs.
 */

import type { Metric } from "./metricsCalls";
import { shell } from "../../ui/snippets";

export const EVENT_LANGUAGES = ["curl", "python", "javascript"] as const;
export type EventLanguage = (typeof EVENT_LANGUAGES)[number];

interface Values {
  readonly address: string;
  readonly key: string;
  readonly environment: string;
  readonly metric: Pick<Metric, "key" | "kind">;
}

const EXAMPLE_VALUE = 12.5;

export function eventCall(language: EventLanguage, { address, key, environment, metric }: Values): string {
  const url = `${address}/sdk/v1/events`;
  const value = metric.kind === "value" ? EXAMPLE_VALUE : null;
  switch (language) {
    case "curl": {
      const event = { metric: metric.key, user_id: "user-42", ...(value !== null && { value }) };
      return `curl -s ${url} \\
  -H ${shell(`X-SDK-Key: ${key}`)} \\
  -H 'Content-Type: application/json' \\
  -d ${shell(JSON.stringify({ environment, events: [event] }))}`;
    }
    case "python":
      return `import requests


def report(user_id: str${value === null ? "" : ", value: float"}) -> None:
    requests.post(
        "${url}",
        headers={"X-SDK-Key": "${key}"},
        json={
            "environment": "${environment}",
            "events": [{"metric": "${metric.key}", "user_id": user_id${value === null ? "" : ', "value": value'}}],
        },
        timeout=1,
    )


report("user-42"${value === null ? "" : `, ${value}`})`;
    case "javascript":
      return `async function report(userId${value === null ? "" : ", value"}) {
  await fetch("${url}", {
    method: "POST",
    headers: { "X-SDK-Key": "${key}", "Content-Type": "application/json" },
    body: JSON.stringify({
      environment: "${environment}",
      events: [{ metric: "${metric.key}", user_id: userId${value === null ? "" : ", value"} }],
    }),
  });
}

await report("user-42"${value === null ? "" : `, ${value}`});`;
  }
}
