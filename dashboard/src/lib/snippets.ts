/** Complete example calls of the API. Values are quoted for their context, because users wrote some of them. */

import type { FlagPath, Variant } from "../api/client";

export interface Target {
  readonly origin: string;
  readonly sdkKey: string;
  readonly environment: string;
  readonly flagKey: string;
}

interface Place {
  readonly project: { readonly sdk_key: string | null };
  readonly environment: { readonly key: string };
}

/** The URL of this page's own server, and the SDK key or a placeholder if the user's role does not show it. */
export function targetOf({ project, environment }: Place, flagKey: string): Target {
  return {
    origin: window.location.origin,
    sdkKey: project.sdk_key ?? "YOUR_SDK_KEY",
    environment: environment.key,
    flagKey,
  };
}

export const LANGUAGES = ["curl", "Python", "JavaScript"] as const;
export type Language = (typeof LANGUAGES)[number];

export function evaluateSnippet(language: Language, target: Target): string {
  return { curl: inCurl, Python: inPython, JavaScript: inJavaScript }[language](target);
}

function inCurl({ origin, sdkKey, environment }: Target): string {
  return `curl -s ${origin}/sdk/v1/evaluate \\
  -H ${shell(`X-SDK-Key: ${sdkKey}`)} \\
  -H 'Content-Type: application/json' \\
  -d ${shell(JSON.stringify({ environment, context: { user_id: "user-42" } }))}`;
}

function inPython({ origin, sdkKey, environment, flagKey }: Target): string {
  return `import requests

def is_enabled(user_id: str) -> bool:
    try:
        response = requests.post(
            "${origin}/sdk/v1/evaluate",
            headers={"X-SDK-Key": "${sdkKey}"},
            json={"environment": "${environment}", "context": {"user_id": user_id}},
            timeout=1,
        )
        response.raise_for_status()
        return response.json()["flags"]["${flagKey}"]["enabled"]
    except (requests.RequestException, KeyError):
        return False`;
}

function inJavaScript({ origin, sdkKey, environment, flagKey }: Target): string {
  return `async function isEnabled(userId) {
  try {
    const response = await fetch("${origin}/sdk/v1/evaluate", {
      method: "POST",
      headers: { "X-SDK-Key": "${sdkKey}", "Content-Type": "application/json" },
      body: JSON.stringify({ environment: "${environment}", context: { user_id: userId } }),
    });
    return response.ok && (await response.json()).flags["${flagKey}"]?.enabled === true;
  } catch {
    return false;
  }
}`;
}

/** The call that sets the percentage of a flag's rollout, or of one of its rules. */
export function rolloutCommand(
  origin: string,
  path: FlagPath & { readonly rule_id?: string },
  percentage: number,
  token: string | null,
): string {
  const address =
    path.rule_id === undefined ? addressOf(origin, path) : `${addressOf(origin, path)}/rules/${path.rule_id}`;
  return updateCommand(address, `{"rollout_percentage": ${percentage}}`, token);
}

/** The call that sets the weights of a flag's variants. It gives the whole variants, because lists are replaced. */
export function weightsCommand(
  origin: string,
  path: FlagPath,
  variants: readonly Variant[],
  token: string | null,
): string {
  const list = variants.map(
    ({ key, weight, value }) =>
      `  {"key": ${JSON.stringify(key)}, "weight": ${weight}, "value": ${JSON.stringify(value)}}`,
  );
  return updateCommand(addressOf(origin, path), `{"variants": [\n${list.join(",\n")}]}`, token);
}

function addressOf(origin: string, path: FlagPath): string {
  return `${origin}/api/projects/${path.project_id}/environments/${path.env_id}/flags/${path.flag_id}`;
}

function updateCommand(address: string, body: string, token: string | null): string {
  return `curl -s -X PUT ${address} \\
  -H "Authorization: Bearer ${token ?? "$FLAGSTAFF_TOKEN"}" \\
  -H 'Content-Type: application/json' \\
  -d ${shell(body)}`;
}

export function createProjectCommand(origin: string): string {
  return managementCommand(`${origin}/api/projects`, { name: "Web shop" });
}

export function createFlagCommand(origin: string, projectId: string, environmentId: string): string {
  const address = `${origin}/api/projects/${projectId}/environments/${environmentId}/flags`;
  return managementCommand(address, { name: "New checkout", key: "new-checkout", enabled: true });
}

function managementCommand(address: string, body: object): string {
  return `curl -s ${address} \\
  -H "Authorization: Bearer $FLAGSTAFF_TOKEN" \\
  -H 'Content-Type: application/json' \\
  -d ${shell(JSON.stringify(body))}`;
}

function shell(text: string): string {
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
