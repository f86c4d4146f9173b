/** Converts the days of a form for the API: an empty field becomes null. */
export function kept<Values extends { readonly history_retention_days: number | string }>(values: Values) {
  const days = values.history_retention_days;
  return { ...values, history_retention_days: days === "" ? null : Number(days) };
}
