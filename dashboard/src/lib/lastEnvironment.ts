/** Remembers the last environment of each project, so that the project opens there again. */

const PREFIX = "flagstaff.environment.";

export function lastEnvironment(projectId: string): string | null {
  return localStorage.getItem(PREFIX + projectId);
}

export function rememberEnvironment(projectId: string, environmentId: string): void {
  localStorage.setItem(PREFIX + projectId, environmentId);
}

export function forgetEnvironments(): void {
  for (const key of Object.keys(localStorage).filter((each) => each.startsWith(PREFIX))) localStorage.removeItem(key);
}
