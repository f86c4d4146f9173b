/**
 * Unsaved edits, kept in the tab's storage until they are saved or discarded. They survive an outage, the end of the
 * session and a reload. Those of one account are never shown to another. Forms for secrets must not use it.
 */

import { currentSession, interruptedSession } from "../../api/session";

export interface Draft {
  /** The state of the resource that was edited; null if it is a new one. */
  readonly base: unknown;
  readonly values: unknown;
  /** In milliseconds since 1970. */
  readonly at: number;
  /** Whether its form was open until the page was left. */
  readonly isOpen: boolean;
}

const PREFIX = "flagstaff.draft.";
const MOST_CHARACTERS = 256 * 1024;
const MOST_DRAFTS = 20;
const OLDEST_MILLISECONDS = 24 * 3_600_000;

export function findDraft(key: string): Draft | null {
  const kept = read(PREFIX + nameOf(key));
  return kept !== null && Date.now() - kept.at < OLDEST_MILLISECONDS ? kept : null;
}

/** Keeps a draft in place of the one before; returns whether there was room for it. */
export function keepDraft(key: string, draft: Draft): boolean {
  const text = JSON.stringify(draft);
  forgetDraft(key);
  if (text.length > MOST_CHARACTERS) return false;
  const others = stored().toSorted((a, b) => a.at - b.at);
  for (const { name } of others.slice(0, Math.max(0, others.length - MOST_DRAFTS + 1))) sessionStorage.removeItem(name);
  try {
    sessionStorage.setItem(PREFIX + nameOf(key), text);
    return true;
  } catch {
    return false; // the storage is full, or turned off
  }
}

export function forgetDraft(key: string): void {
  sessionStorage.removeItem(PREFIX + nameOf(key));
}

/** Records that the form of a draft was closed, so that it does not open by itself. */
export function closeDraft(key: string): void {
  const draft = findDraft(key);
  if (draft) keepDraft(key, { ...draft, isOpen: false });
}

/** Forgets all drafts, because signing out must leave nothing behind. */
export function forgetDrafts(): void {
  for (const { name } of stored()) sessionStorage.removeItem(name);
}

function nameOf(key: string): string {
  const email = (currentSession() ?? interruptedSession())?.email ?? "";
  return `${email.toLowerCase()} ${key}`;
}

function stored(): { name: string; at: number }[] {
  return Object.keys(sessionStorage)
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => ({ name, at: read(name)?.at ?? 0 }));
}

function read(name: string): Draft | null {
  try {
    return JSON.parse(sessionStorage.getItem(name) ?? "null") as Draft | null; // only we write it
  } catch {
    return null;
  }
}
