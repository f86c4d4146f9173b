/** The token of a reset link. It is read once, before anything else runs, and removed from the address bar immediately. */

export const RESET_PATH = "/reset-password";

const taken = take();

export function resetToken(): string | null {
  return taken;
}

function take(): string | null {
  if (window.location.pathname !== RESET_PATH) return null;
  const token = new URLSearchParams(window.location.search).get("token");
  if (token !== null) window.history.replaceState(window.history.state, "", RESET_PATH);
  return token;
}
