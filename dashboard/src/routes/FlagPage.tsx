export function FlagPage() {
  return null;
}
