export function Changes() {
  return null;
}
