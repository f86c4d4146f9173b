/** Remembers the last environment of each project, so that the project opens there again. */

import type { Environment } from "../api/client";

const PREFIX = "flagstaff.environment.";

export function lastEnvironment(projectId: string): string | null {
  return localStorage.getItem(PREFIX + projectId);
}

/** The environment of the page; on pages of the project the last one, or the first. */
export function shownEnvironment(
  projectId: string,
  environmentId: string | null | undefined,
  environments: readonly Environment[] | undefined,
): Environment | undefined {
  const shown = environmentId ?? lastEnvironment(projectId);
  return environments?.find((each) => each.id === shown) ?? environments?.[0];
}

export function rememberEnvironment(projectId: string, environmentId: string): void {
  localStorage.setItem(PREFIX + projectId, environmentId);
}

export function forgetEnvironments(): void {
  for (const key of Object.keys(localStorage).filter((each) => each.startsWith(PREFIX))) localStorage.removeItem(key);
}
