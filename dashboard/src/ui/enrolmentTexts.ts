/** The demand for a second factor, and the way to set one up. */

export const enrolmentTexts = {
  demanded: "A second factor is required here",
  demandedText: "Your account has none. Set one up on the page of your account; then you can come back.",
  setUp: "Set up a second factor",
};
