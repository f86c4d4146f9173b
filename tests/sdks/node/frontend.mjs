// An application with Unleash's client for browsers. It reads commands as lines of JSON and answers each with one line:
// {"connect": key, "name", "url", "mode": "GET" or "POST"} makes a client; {"ask": [[flag, context]], "name"} fetches the flags of each context.
import { createInterface } from "node:readline";
import { InMemoryStorageProvider, UnleashClient } from "unleash-proxy-client";

const clients = {};

async function connect({ connect: clientKey, name, url, mode: method }) {
  const client = new UnleashClient({
    url,
    clientKey,
    appName: "shop",
    refreshInterval: 0,
    disableMetrics: true,
    usePOSTrequests: method === "POST",
    storageProvider: new InMemoryStorageProvider(),
  });
  client.on("error", (error) => (client.failed = error));
  clients[name] = client;
  await client.start();
  return { connected: !client.failed };
}

async function ask(questions, name) {
  const client = clients[name];
  const answers = [];
  let asked = null;
  for (const [flag, { userId, properties }] of questions) {
    const context = JSON.stringify([userId, properties]);
    if (asked !== context) await client.updateContext({ userId, properties });
    asked = context;
    const { name: variant, payload } = client.getVariant(flag);
    answers.push([client.isEnabled(flag), variant === "disabled" ? null : variant, payload ?? null]);
  }
  return answers;
}

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  const answer = command.connect ? connect(command) : ask(command.ask, command.name);
  console.log(JSON.stringify(await answer));
}
