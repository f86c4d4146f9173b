/** Signing in with a second factor, or with a passkey alone; loaded with the page. */

export const secondFactor = {
  heading: "Confirm your sign-in",
  code: "Code",
  recoveryCode: "Recovery code",
  codeHint: "The six digits that your authenticator app shows, or one of your recovery codes",
  appOnlyHint: "The six digits that your authenticator app shows",
  recoveryHint: "One of the recovery codes that you kept, such as abcd-efgh-2345-6789",
  usePasskey: "Use a passkey",
  signInWithPasskey: "Sign in with a passkey",
  passkeyNotUsed: "No passkey was used. Try again.",
  noPasskeys: "This browser cannot use your passkey here. Sign in with a browser or device that can.",
  back: "Back to the password",
};
