/** Whether people can create accounts here themselves: the server writes it into the page. */

export function isRegistrationOpen(): boolean {
  return document.querySelector<HTMLMetaElement>("meta[name=flagstaff-registration]")?.content !== "closed";
}
