/** Compares values of the API. */

export type Fields = Readonly<Record<string, unknown>>;

/** Whether two JSON values are the same, regardless of the order of the members of objects. */
export function equal(one: unknown, other: unknown): boolean {
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return one === other;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [a, b] = [one as Fields, other as Fields];
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => equal(a[key], b[key]));
}

/** The fields that differ, with their values in `to`: what has to be sent. */
export function changedFields(from: Fields, to: Fields): Record<string, unknown> {
  return Object.fromEntries(Object.entries(to).filter(([field, value]) => !equal(from[field], value)));
}
