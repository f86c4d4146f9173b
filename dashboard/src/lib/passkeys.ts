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
  return jsonOf(() => navigator.credentials.get({ publicKey }));
}

/** Makes a passkey; null if the person or the browser made none. The options are those of the server. */
export async function makePasskey(options: Json): Promise<Json | null> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as unknown as PublicKeyCredentialCreationOptionsJSON,
  );
  return jsonOf(() => navigator.credentials.create({ publicKey }));
}

async function jsonOf(asked: () => Promise<Credential | null>): Promise<Json | null> {
  try {
    const credential = await asked();
    const made: unknown = (credential as PublicKeyCredential | null)?.toJSON();
    return (made ?? null) as Json | null;
  } catch (error) {
    if (error instanceof DOMException) return null; // refused, timed out, or already registered
    throw error;
  }
}
