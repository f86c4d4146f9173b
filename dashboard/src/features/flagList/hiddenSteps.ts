/** Remembers in which projects the first steps are hidden, in this browser. */

const PREFIX = "flagstaff.first-steps-hidden.";

export function areStepsHidden(projectId: string): boolean {
  return localStorage.getItem(PREFIX + projectId) !== null;
}

export function hideSteps(projectId: string): void {
  localStorage.setItem(PREFIX + projectId, "yes");
}
