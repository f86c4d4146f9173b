/** Every text of the dashboard, in one catalogue. */

import { accounts } from "./accounts";
import { common, palette, problems, shell } from "./common";
import { code, flag, flags, rules, simulator } from "./flags";
import { changes, history } from "./history";
import { deletion, projects, settings } from "./projects";

export const t = {
  ...common,
  accounts,
  changes,
  code,
  deletion,
  flag,
  flags,
  history,
  palette,
  problems,
  projects,
  rules,
  settings,
  shell,
  simulator,
};
