/** The second factors of the signed-in account. */

import { useMutation } from "@tanstack/react-query";
import { makePasskey } from "./passkeys";
import type { CodeProof } from "./proofs";
import { client } from "../../api/client";
import { ask } from "../../api/problem";
import type { components } from "../../api/schema";
import { read } from "../../api/reads";
import { useOutdating } from "../../api/queryKeys";

type Schemas = components["schemas"];
export type TwoFactor = Schemas["TwoFactorOut"];
export type Passkey = Schemas["PasskeyOut"];
export type Enrolment = Schemas["EnrolmentOut"];

interface Confirmed {
  readonly current_password: string;
}

const BASE = "/api/me/two-factor";

export const twoFactorQuery = read(BASE);

/** Whether the account has a second factor of its own, and so recovery codes. */
export function hasSecondFactor({ totp_since: since, passkeys }: TwoFactor): boolean {
  return since !== null || passkeys.length > 0;
}

export function useBeginApp() {
  return useMutation({ mutationFn: (body: Confirmed) => ask(client.POST(`${BASE}/totp`, { body })) });
}

/** Its result is the recovery codes; none if the account has some already. */
export function useConfirmApp() {
  return useChange(async (body: { code: string }) => {
    const { recovery_codes: codes } = await ask(client.POST(`${BASE}/totp/confirm`, { body }));
    return codes;
  });
}

export function useDisableApp() {
  return useChange((body: Confirmed & CodeProof) => ask(client.POST(`${BASE}/totp/disable`, { body })));
}

export function useRenewCodes() {
  return useChange(async (body: Confirmed) => {
    const { recovery_codes: codes } = await ask(client.POST(`${BASE}/recovery-codes`, { body }));
    return codes;
  });
}

/** Its result is the recovery codes if the passkey is the first second factor. */
export function useAddPasskey() {
  return useChange(async ({ name, ...confirmed }: Confirmed & { name: string }) => {
    const { public_key: options } = await ask(client.POST(`${BASE}/passkeys/options`, { body: confirmed }));
    const credential = await makePasskey(options);
    const { recovery_codes: codes } = await ask(client.POST(`${BASE}/passkeys`, { body: { name, credential } }));
    return codes;
  });
}

export function useRemovePasskey(id: string) {
  const path = { passkey_id: id };
  return useChange((body: Confirmed) =>
    ask(client.POST(`${BASE}/passkeys/{passkey_id}/remove`, { params: { path }, body })),
  );
}

function useChange<Values, Result>(change: (values: Values) => Promise<Result>) {
  return useMutation({
    mutationFn: change,
    onSettled: useOutdating(twoFactorQuery),
  });
}
