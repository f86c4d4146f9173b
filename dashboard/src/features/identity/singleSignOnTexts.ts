export const singleSignOn = {
  or: "or",
  continueWith: (provider: string) => `Continue with ${provider}`,
  signingIn: "Signing in",
  unasked: "This sign-in was not started in this tab, or was already completed. Sign in again.",
  cancelled: (provider: string) =>
    `The sign-in at ${provider} was cancelled, or ${provider} does not let you in here. You can try again.`,
  refused: (provider: string) => `${provider} could not sign you in. Try again, or ask the operator of this server.`,
};
