/**
 * The only client of the API. The types of its paths, bodies and responses come from
 * src/flagstaff/assembly/openapi.json.
 */

import createClient, { type Middleware } from "openapi-fetch";
import { missingInWords } from "./missingInstances";
import { noteChange } from "./madeChanges";
import { keptInResponse, writeJson } from "./json";
import { notifyWarning } from "./notify";
import { serverAddress } from "./server";
import { currentSession, endSession, interruptedSession, resumedSession } from "./session";
import { problemsTexts } from "./problemsTexts";
import { send } from "./outage";
import { Problem } from "./problem";
import type { components, paths } from "./schema";

type Schemas = components["schemas"];
export type Project = Schemas["ProjectOut"];
export type Environment = Schemas["EnvironmentItem"];
export type Flag = Schemas["FlagOut"];
export type Rule = Schemas["RuleOut"];
export type RuleType = Rule["rule_type"];
export type Condition = Schemas["ConditionBody"];
export type Operator = Schemas["Operator"];
export type Prerequisite = Schemas["PrerequisiteBody"];
export type Variant = Schemas["VariantBody"];
export type NewFlag = Schemas["NewFlag"];
export type FlagUpdate = Schemas["FlagUpdate"];
export type Segment = Schemas["SegmentOut"];
export type NewSegment = Schemas["NewSegment"];
/** The fields of a rule that people edit. Its value is null if it is one of the type `attributes`. */
export type RuleFields = Pick<
  Rule,
  "rule_type" | "rule_value" | "priority" | "enabled" | "name" | "conditions" | "variant"
>;

export interface EnvironmentPath {
  readonly project_id: string;
  readonly env_id: string;
}

export interface FlagPath extends EnvironmentPath {
  readonly flag_id: string;
}

const needsToken = (path: string) => path.startsWith("/api") || path === "/auth/logout";

const authorization: Middleware = {
  onRequest({ request, schemaPath }) {
    const session = currentSession();
    if (session && needsToken(schemaPath)) request.headers.set("Authorization", `Bearer ${session.token}`);
    return request;
  },
};

/** Sends a request. If the session has ended and its page stays, it is sent after someone has signed in again. */
async function sendInSession(request: Request): Promise<Response> {
  if (!request.url.startsWith(`${serverAddress()}/api`)) return send(request);
  const again = request.clone();
  if (interruptedSession() === null) {
    const response = await send(request);
    if (response.status !== 401) return response;
    // A response to an earlier token says nothing about the current one.
    if (request.headers.get("Authorization") === `Bearer ${currentSession()?.token}`) endSession("expired");
    if (interruptedSession() === null) return response;
  }
  const session = await resumedSession();
  if (session) again.headers.set("Authorization", `Bearer ${session.token}`);
  return send(again);
}

const whereItIsLive: Middleware = {
  onResponse({ response }) {
    const warning = missingInWords(response.headers);
    if (warning) notifyWarning(warning.title, warning.message);
  },
};

const whatItChanged: Middleware = {
  onResponse({ response, params }) {
    noteChange(params.path?.project_id, response.headers.get("Flagstaff-Change"));
  },
};

/** The values of users keep their form. */
const valuesAsWritten: Middleware = {
  onResponse({ response, options }) {
    if (options.parseAs !== "json") return;
    const read = response.text.bind(response);
    response.text = async () => keptInResponse(await read());
    response.json = async () => JSON.parse(await response.text()) as unknown;
  },
};

/** A change without a response may have been made: only the response may have been lost. */
const withoutAnswer: Middleware = {
  onError: ({ request, schemaPath }) =>
    request.method === "GET" || !schemaPath.startsWith("/api") ? undefined : new Problem(0, problemsTexts.unanswered),
};

export const client = createClient<paths>({
  baseUrl: serverAddress(),
  fetch: sendInSession,
  bodySerializer: (body) => writeJson(body),
});
client.use(authorization, whereItIsLive, whatItChanged, valuesAsWritten, withoutAnswer);
