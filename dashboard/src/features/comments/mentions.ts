/** Completes mentions: the text after an @, and the members that match it. */

const SHOWN = 6;
const TYPED = /(?:^|[\s(,;:])@([^\s@]*(?:@[^\s@]*)?)$/;

/** The part of an address that has been typed before the caret, after its @; null if no mention is being typed. */
export function typedMention(text: string, caret: number): string | null {
  return TYPED.exec(text.slice(0, caret))?.[1] ?? null;
}

/** Those whose address begins with what is typed, and then those whose address contains it. */
export function suggested(emails: readonly string[], typed: string): readonly string[] {
  const wanted = typed.toLowerCase();
  const starts = emails.filter((each) => each.toLowerCase().startsWith(wanted));
  const others = emails.filter((each) => !starts.includes(each) && each.toLowerCase().includes(wanted));
  return [...starts, ...others].filter((each) => each.toLowerCase() !== wanted).slice(0, SHOWN);
}

/** The text with an address in place of what was typed, and where the caret is then. */
export function completed(text: string, caret: number, typed: string, email: string): { text: string; caret: number } {
  const before = `${text.slice(0, caret - typed.length)}${email} `;
  return { text: before + text.slice(caret).replace(/^ /, ""), caret: before.length };
}
