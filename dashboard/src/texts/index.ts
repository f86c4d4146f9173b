/**
 * The texts of the dashboard, in one catalogue. Parts that load on their own import their texts from files beside this
 * one, so that these load with them.
 */

import { accounts } from "./accounts";
import { adminPages } from "./adminPages";
import { common, problems, shell } from "./common";
import { conditions } from "./conditions";
import { flag, flags, rules } from "./flags";
import { history, users } from "./history";
import { prerequisites } from "./prerequisites";
import { roles } from "./roles";
import { enrolment } from "./enrolment";
import { simulator } from "./simulator";

export const t = {
  ...common,
  accounts,
  adminPages,
  conditions,
  enrolment,
  flag,
  flags,
  history,
  prerequisites,
  problems,
  roles,
  rules,
  shell,
  simulator,
  users,
};
