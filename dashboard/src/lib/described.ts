/** What a form has typed as a description, as the API takes it: an empty one is none. */
export function described<Values extends { readonly description: string }>(values: Values) {
  return { ...values, description: values.description.trim() || null };
}
