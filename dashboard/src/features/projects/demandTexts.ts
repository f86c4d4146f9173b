export const demand = {
  heading: "Two-factor authentication",
  text: "Protects the project against passwords that were guessed or stolen.",
  label: "Require a second factor of every member",
  effect: "Members without a second factor cannot see or change anything in the project until they set one up.",
  lacking: "Set up a second factor for your own account first, so that you do not lock yourself out.",
  confirmHeading: "Require a second factor?",
  confirmText:
    "Members without a second factor lose access immediately, in the dashboard and through the API, including with their access tokens, until they set one up. Applications that use the SDK key are not affected.",
  confirm: "Require a second factor",
  begun: "The project now requires a second factor.",
  ended: "The project no longer requires a second factor.",
  failed: "The requirement could not be changed",
};
