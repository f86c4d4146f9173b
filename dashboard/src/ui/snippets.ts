/** Complete example calls of the API. Values are quoted for their context, because users wrote some of them. */

import type { FlagPath } from "../api/client";
import { serverAddress } from "../api/server";

interface Place {
  readonly project: { readonly sdk_key: string | null };
  readonly environment: { readonly key: string };
}

/** The placeholder for an SDK key that is not shown. */
export const NO_KEY = "YOUR_SDK_KEY";

/** The call that evaluates all flags of an environment on this page's own server. */
export function evaluateCommand({ project, environment }: Place): string {
  return `curl -s ${serverAddress()}/sdk/v1/evaluate \\
  -H ${shell(`X-SDK-Key: ${project.sdk_key ?? NO_KEY}`)} \\
  -H 'Content-Type: application/json' \\
  -d ${shell(JSON.stringify({ environment: environment.key, context: { user_id: "user-42" } }))}`;
}

/** What stands beside each percentage of a flag in a call: people and programs take 0 for nobody. */
export const ZERO_MEANS_EVERYONE =
  "# A rollout_percentage of 0 means everyone. To turn the flag off, set enabled to false.";

/** The call that sets the percentage of a flag's rollout, or of one of its rules. */
export function rolloutCommand(
  origin: string,
  path: FlagPath & { readonly rule_id?: string },
  percentage: number,
  token: string | null,
): string {
  const address =
    path.rule_id === undefined ? addressOf(origin, path) : `${addressOf(origin, path)}/rules/${path.rule_id}`;
  const note = path.rule_id === undefined ? `${ZERO_MEANS_EVERYONE}\n` : "";
  return `${note}${updateCommand(address, `{"rollout_percentage": ${percentage}}`, token)}`;
}

/** The address of a flag in the API. */
export function addressOf(origin: string, path: FlagPath): string {
  return `${origin}/api/projects/${path.project_id}/environments/${path.env_id}/flags/${path.flag_id}`;
}

function updateCommand(address: string, body: string, token: string | null): string {
  return `curl -s -X PUT ${address} \\
  -H "Authorization: Bearer ${token ?? "$FLAGSTAFF_TOKEN"}" \\
  -H 'Content-Type: application/json' \\
  -d ${shell(body)}`;
}

export function createProjectCommand(origin: string, token: string | null): string {
  return managementCommand(`${origin}/api/projects`, { name: "Web shop" }, token);
}

export function createFlagCommand(
  origin: string,
  projectId: string,
  environmentId: string,
  token: string | null,
): string {
  const address = `${origin}/api/projects/${projectId}/environments/${environmentId}/flags`;
  return managementCommand(address, { name: "New checkout", key: "new-checkout", enabled: true }, token);
}

function managementCommand(address: string, body: object, token: string | null): string {
  return `curl -s ${address} \\
  -H "Authorization: Bearer ${token ?? "$FLAGSTAFF_TOKEN"}" \\
  -H 'Content-Type: application/json' \\
  -d ${shell(JSON.stringify(body))}`;
}

/** A text as one word of a shell. */
export function shell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A call that a new access token allows, whatever its permissions are. */
export function tokenCommand(
  origin: string,
  projectId: string | null,
  { token, permissions }: { readonly token: string; readonly permissions: readonly string[] },
): string {
  const projects = projectId === null ? "projects" : `projects/${projectId}`;
  const path = permissions.includes("project:read") ? projects : "me";
  return `curl -s ${origin}/api/${path} -H ${shell(`Authorization: Bearer ${token}`)}`;
}
