/** Every permission, in the order of the server's table. */

import type { Permission } from "../../api/members";
import { permissions } from "./permissionsTexts";

export const ALL_PERMISSIONS = Object.keys(permissions) as Permission[];
