/**
 * The texts of the dashboard, in one catalogue. Parts that load on their own import their texts from files beside this
 * one, so that these load with them.
 */

import { accounts } from "../features/identity/accountsTexts";
import { adminPages } from "../features/administration/adminPagesTexts";
import { common, problems, shell } from "../ui/commonTexts";
import { conditions } from "../ui/conditions/conditionsTexts";
import { flag, flags, rules } from "../features/flags/flagsTexts";
import { history, users } from "../features/history/historyTexts";
import { prerequisites } from "../features/flags/prerequisites/prerequisitesTexts";
import { roles } from "../ui/rolesTexts";
import { enrolment } from "../features/identity/enrolmentTexts";
import { simulator } from "../features/explanations/simulatorTexts";

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
