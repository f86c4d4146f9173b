/** The name of a quota, from that of its setting: "Projects per account" from FLAGSTAFF_MAX_PROJECTS_PER_ACCOUNT. */

import { capitalised } from "../../ui/capitalised";

export function quotaInWords(setting: string): string {
  return capitalised(
    setting
      .replace(/^FLAGSTAFF_MAX_/, "")
      .toLowerCase()
      .replaceAll("_", " "),
  );
}
