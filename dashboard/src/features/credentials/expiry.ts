/** The expiry of access tokens and SDK keys, as a form has it and as a list shows it. */

export const EXPIRIES = ["30", "90", "365", "date", "never"] as const;

export interface ExpiryDraft {
  readonly expires_at: (typeof EXPIRIES)[number];
  /** The last day, as in "2026-12-31". */
  readonly date: string;
}

const DAY_MILLISECONDS = 86_400_000;
const SOON_MILLISECONDS = 7 * DAY_MILLISECONDS;

/** Whether a text is a day such as "2026-12-31". The year has four digits. */
export function isDay(text: string): boolean {
  return !Number.isNaN(Date.parse(endOf(text)));
}

export function momentOf({ expires_at: choice, date }: ExpiryDraft, now: number): string | null {
  if (choice === "never") return null;
  // Until the end of the day in the person's time zone.
  const end = choice === "date" ? new Date(endOf(date)) : new Date(now + Number(choice) * DAY_MILLISECONDS);
  return end.toISOString();
}

/** The choice for about the same lifetime as an existing key or token. */
export function likeExpiryOf(made: { readonly created_at: string; readonly expires_at: string | null }): ExpiryDraft {
  if (made.expires_at === null) return { expires_at: "never", date: "" };
  const days = (Date.parse(made.expires_at) - Date.parse(made.created_at)) / DAY_MILLISECONDS;
  return { expires_at: days <= 60 ? "30" : days <= 228 ? "90" : "365", date: "" };
}

export function expiryOf(
  { expires_at: at }: { readonly expires_at: string | null },
  now: number,
): "never" | "later" | "soon" | "expired" {
  if (at === null) return "never";
  const left = Date.parse(at) - now;
  if (left <= 0) return "expired";
  return left <= SOON_MILLISECONDS ? "soon" : "later";
}

function endOf(day: string): string {
  return `${day}T23:59:59`;
}
