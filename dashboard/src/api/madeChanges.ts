/** The changes that calls have just made, until someone offers to undo them. */

export interface MadeChanges {
  readonly projectId: string;
  readonly changes: readonly string[];
  /** Whether one operation made them, which is undone as a whole: `changes` has one of them. */
  readonly areOneOperation?: boolean;
}

let made: MadeChanges | null = null;

/** Records the change that the response to a call in a project names, if it names one. */
export function noteChange(projectId: unknown, change: string | null): void {
  if (change === null || typeof projectId !== "string") return;
  const before = made?.projectId === projectId ? made.changes : [];
  made = { projectId, changes: [...before, change] };
}

export function takeChanges(): MadeChanges | null {
  const taken = made;
  made = null;
  return taken;
}
