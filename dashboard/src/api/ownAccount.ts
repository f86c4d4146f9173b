/** The signed-in account. */

import { read } from "./reads";

export const ownAccountQuery = read("/api/me/account");
