/** Passkeys in this browser. Browsers have them only on secure pages. */

type Json = Record<string, unknown>;

export function hasPasskeys(): boolean {
  return "PublicKeyCredential" in window && "parseRequestOptionsFromJSON" in PublicKeyCredential;
}

/** Asks for a passkey; null if the person or the browser gave none. The options are those of the server. */
export async function askForPasskey(options: Json): Promise<Json | null> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as unknown as PublicKeyCredentialRequestOptionsJSON,
  );
  try {
    const credential = await navigator.credentials.get({ publicKey });
    const made: unknown = (credential as PublicKeyCredential | null)?.toJSON();
    return (made ?? null) as Json | null;
  } catch (error) {
    if (error instanceof DOMException) return null; // refused or timed out
    throw error;
  }
}
