/** Which environment of a project was opened last, so that a project opens where it was left. */

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
