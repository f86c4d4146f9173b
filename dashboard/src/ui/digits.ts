/** A number with three significant digits. */
export function digits(number: number): string {
  if (number !== 0 && (Math.abs(number) >= 1e7 || Math.abs(number) < 1e-4)) return number.toExponential(1);
  return number.toLocaleString(
    "en",
    Math.abs(number) >= 100 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 },
  );
}
