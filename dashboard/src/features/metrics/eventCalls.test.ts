import { expect, it } from "vitest";
import { eventCall } from "./eventCalls";

const VALUES = {
  address: "https://x",
  key: "k",
  environment: "production",
  metric: { key: "checkout-error", kind: "binary" },
} as const;

it("sends an event with a user, and a value only of metrics that have one", () => {
  expect(eventCall("curl", VALUES)).toContain(
    `-d '{"environment":"production","events":[{"metric":"checkout-error","user_id":"user-42"}]}'`,
  );
  const latency = { ...VALUES, metric: { key: "latency", kind: "value" } } as const;
  expect(eventCall("curl", latency)).toContain('"user_id":"user-42","value":12.5}');
  expect(eventCall("python", latency)).toContain('"value": value}');
  expect(eventCall("javascript", latency)).toContain('await report("user-42", 12.5);');
});

it("sends the key as a header to the endpoint for events", () => {
  for (const language of ["curl", "python", "javascript"] as const) {
    const call = eventCall(language, VALUES);
    expect(call).toContain("https://x/sdk/v1/events");
    expect(call).toContain("X-SDK-Key");
  }
});
