export const signInAgain = {
  kept: "What you typed on this page is kept.",
  leave: "Leave this page",
};
