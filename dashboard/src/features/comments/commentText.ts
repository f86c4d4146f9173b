/** The text of a comment in parts. It stays text: only links, code and mentions look different. */

import { isLink } from "../../ui/givenText";

export interface TextPart {
  readonly kind: "text" | "code" | "link" | "mention";
  readonly text: string;
}

const PARTS = /`([^`\n]+)`|(https?:\/\/[^\s<>"`]+)|(?<![\w.+@-])@([^\s@,;:()<>[\]"]{1,64}@[^\s@,;:()<>[\]"!?]{1,254})/g;
/** Punctuation that ends a sentence, which is not part of an address. */
const ENDING = /[.,;:!?'*_)\]`]+$/;

/** `members` are the addresses of those who can be mentioned; any other address is text. */
export function textParts(text: string, members: ReadonlySet<string>): readonly TextPart[] {
  const parts: TextPart[] = [];
  let end = 0;
  const add = (kind: TextPart["kind"], part: string) => {
    if (part) parts.push({ kind, text: part });
  };
  for (const match of text.matchAll(PARTS)) {
    const [whole, code, link, address] = match;
    const given = whole.replace(code === undefined ? ENDING : /$^/, "");
    if (link !== undefined && !isLink(given)) continue;
    const mentioned = address?.replace(ENDING, "");
    if (mentioned !== undefined && !members.has(mentioned.toLowerCase())) continue;
    add("text", text.slice(end, match.index));
    end = match.index + given.length;
    if (code !== undefined) add("code", code);
    else if (link !== undefined) add("link", given);
    else add("mention", given);
  }
  add("text", text.slice(end));
  return parts;
}
