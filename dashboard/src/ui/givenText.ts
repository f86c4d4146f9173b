/**
 * Texts that others wrote: names, ids, descriptions and comments. Characters that would hide or reorder what stands
 * around them are shown as escapes, and only addresses that lead where they seem to lead become links.
 */

/**
 * Controls, the controls of bidirectional text, and all that is drawn as nothing, but for the joiners of words and emoji
 * and the selectors of variants, which change how the character before them is drawn.
 */
const CONTROLS =
  /(?![\u200C\u200D\p{Variation_Selector}])[\p{Cc}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\u2028\u2029\uFFF9-\uFFFB]/gu;
/** What prose in any language may have: lines, tabs, and marks of direction, which reorder nothing else. */
const OF_PROSE = new Set(["\n", "\t", "\u200E", "\u200F", "\u061C"]);
const LINK = /^https?:\/\/[^/?#]+/;

function escaped(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
}

/** A name or an id on one line. */
export function visibleName(text: string): string {
  return text.replace(CONTROLS, escaped);
}

/** A text of several lines. */
export function visibleProse(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(CONTROLS, (character) => (OF_PROSE.has(character) ? character : escaped(character)));
}

/** Whether a text becomes a link: an address of the web that names no user, and hides nothing. */
export function isLink(text: string): boolean {
  const start = LINK.exec(text)?.[0];
  if (start === undefined || start.includes("@") || text.includes("\\") || text.search(CONTROLS) !== -1) return false;
  return URL.canParse(text);
}
