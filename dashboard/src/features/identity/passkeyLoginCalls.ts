/** Signing in with a passkey alone. */

import { useMutation } from "@tanstack/react-query";
import { askForPasskey } from "./passkeys";
import { startSession } from "../../api/session";
import { client } from "../../api/client";
import { ask } from "../../api/problem";

export function usePasskeySignIn() {
  return useMutation({
    mutationFn: async () => {
      const { public_key: options } = await ask(client.POST("/auth/passkeys/options"));
      const credential = await askForPasskey(options);
      const { token } = await ask(client.POST("/auth/passkeys/login", { body: { credential } }));
      // The passkey has chosen the account, so only the server knows whose it is.
      const headers = { Authorization: `Bearer ${token}` };
      const { email } = await ask(client.GET("/api/me/account", { headers }));
      startSession({ token, email });
    },
  });
}
