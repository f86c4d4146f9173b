export const problemsTexts = {
  unreachable: "The server cannot be reached. Check the connection and try again.",
  unanswered: "The server cannot be reached. The change may have been made: check before you try again.",
  unexpected: (status: number) => `An unexpected error occurred${status ? ` (status ${status})` : ""}. Try again.`,
  limited: (seconds: number) => `Too many requests. Try again in ${seconds} s.`,
  heading: "The data could not be loaded",
  forbidden: "Your role does not allow this",
  requestId: (id: string) => `Request ${id}`,
  notShown: "This page cannot be shown",
  notFound: "Page not found",
  notFoundDetail: "This page does not exist, was deleted, or belongs to another account.",
  home: "Go to your projects",
};
