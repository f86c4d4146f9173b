// An application with OpenFeature's server SDK. It reads commands as lines of JSON and answers each with one line:
// {"connect": key, "name", "url"} makes a client; {"ask": [[flag, type, default, context]], "name"} asks it.
import { createInterface } from "node:readline";
import { OFREPProvider } from "@openfeature/ofrep-provider";
import { OpenFeature } from "@openfeature/server-sdk";

async function connect({ connect: key, name, url: baseUrl }) {
  const provider = new OFREPProvider({ baseUrl, headers: [["X-API-Key", key]] });
  await OpenFeature.setProviderAndWait(name, provider);
  return { connected: true };
}

async function ask(questions, name) {
  const client = OpenFeature.getClient(name);
  const ways = {
    boolean: client.getBooleanDetails,
    string: client.getStringDetails,
    integer: client.getNumberDetails,
    float: client.getNumberDetails,
    object: client.getObjectDetails,
  };
  const answers = [];
  for (const [flag, type, fallback, context] of questions) {
    const details = await ways[type].call(client, flag, fallback, context);
    const { value, variant = null, reason = null, errorCode: error = null, flagMetadata: metadata } = details;
    answers.push({ value, variant, reason, error, metadata });
  }
  return answers;
}

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  const answer = command.connect ? connect(command) : ask(command.ask, command.name);
  console.log(JSON.stringify(await answer));
}
