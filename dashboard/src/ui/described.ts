/** Converts a form's description for the API: an empty one becomes null. */
export function described<Values extends { readonly description: string }>(values: Values) {
  return { ...values, description: values.description.trim() || null };
}
