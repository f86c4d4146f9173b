/** Passkeys in this browser. Browsers have them only on secure pages. */

import { Problem } from "../../api/problem";
import { secondFactor } from "./secondFactorTexts";
import { twoFactor as texts } from "./twoFactorTexts";

type Json = Record<string, unknown>;

export function hasPasskeys(): boolean {
  return "PublicKeyCredential" in window && "parseRequestOptionsFromJSON" in PublicKeyCredential;
}

/** Why no passkey can be made here; null if one can. */
export function reasonAgainstPasskeys(): string | null {
  if (!window.isSecureContext) return texts.passkeysInsecure;
  return hasPasskeys() ? null : texts.passkeysUnknown;
}

/** Asks for a passkey; throws a Problem in words if the person or the browser gave none. The options are the server's. */
export async function askForPasskey(options: Json): Promise<Json> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as unknown as PublicKeyCredentialRequestOptionsJSON,
  );
  try {
    const given = asJson(await navigator.credentials.get({ publicKey }));
    if (given) return given;
  } catch (error) {
    if (!(error instanceof DOMException)) throw error; // refused or timed out
  }
  throw new Problem(0, secondFactor.passkeyNotUsed);
}

/** Makes a passkey; throws a Problem in words if the person or the browser made none. */
export async function makePasskey(options: Json): Promise<Json> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as unknown as PublicKeyCredentialCreationOptionsJSON,
  );
  try {
    const made = asJson(await navigator.credentials.create({ publicKey }));
    if (made) return made;
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    if (error.name === "InvalidStateError") throw new Problem(0, texts.passkeyKnown);
    if (error.name === "SecurityError") throw new Problem(0, texts.passkeyElsewhere(publicKey.rp.id ?? ""));
  }
  throw new Problem(0, texts.passkeyNotMade);
}

function asJson(credential: Credential | null): Json | null {
  const json: unknown = (credential as PublicKeyCredential | null)?.toJSON();
  return (json ?? null) as Json | null;
}
