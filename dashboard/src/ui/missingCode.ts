/** Handles code of a page or a dialog that cannot be loaded: the server is unavailable, or serves a newer dashboard. */

import { Problem } from "../api/problem";
import { answeredAddress } from "../api/server";
import { problemsTexts } from "../api/problemsTexts";

/** The code of a module could not be loaded because the server cannot be reached. Only loading the page anew helps. */
export class MissingCode extends Problem {
  constructor() {
    super(0, problemsTexts.unreachable);
    this.name = "MissingCode";
  }
}

/** Returns the module. Throws MissingCode if the server is unavailable; then the router does not reload the page. */
export async function explained<Module>(module: Promise<Module>): Promise<Module> {
  try {
    return await module;
  } catch (error) {
    if (await serverAnswers()) throw error;
    throw new MissingCode();
  }
}

/** Loads the page anew if the server answers: a page that the browser cannot load would replace this one. */
export async function reload(): Promise<void> {
  if (await serverAnswers()) window.location.reload();
}

/** Whether an error says that a module could not be loaded, in the words of Chromium, Firefox, Safari and Vite. */
export function isMissingCode(error: unknown): boolean {
  return (
    error instanceof MissingCode ||
    (error instanceof Error &&
      /dynamically imported module|importing a module script failed|unable to preload/i.test(error.message))
  );
}

async function serverAnswers(): Promise<boolean> {
  try {
    return (await fetch(answeredAddress(), { cache: "no-store", signal: AbortSignal.timeout(5000) })).ok;
  } catch {
    return false;
  }
}
