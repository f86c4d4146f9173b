/** The cursor of the next part of a list, from the header `Link` of this one; null if this is the last. */
export function cursorOf(link: string | null): string | null {
  const [, query = ""] = /^<\?([^>]*)>; rel="next"$/.exec(link ?? "") ?? [];
  return new URLSearchParams(query).get("cursor");
}
