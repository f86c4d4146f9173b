/** Descriptions of the permissions; loaded with the pages of members and of access tokens. */

import type { Permission } from "../../api/members";

export const permissions = {
  "project:read": "See the project, its environments and its segments",
  "project:write": "Change the name and the description of the project",
  "project:delete": "Delete the project",
  "environments:write": "Create, rename and delete environments",
  "segments:write": "Create, change and delete segments and metrics",
  "flags:read": "See flags and their rules",
  "flags:write": "Create, change, archive and delete flags",
  "flags:toggle": "Turn flags on and off",
  "rules:write": "Create, change and delete rules",
  "evaluations:read": "See the evaluation history",
  "users:export": "Export everything that is stored about one user of the applications",
  "users:erase": "Erase what is stored about one user of the applications",
  "audit:read": "See the audit trail",
  "comments:write": "Comment on flags, releases and changes, and edit and delete own comments",
  "comments:moderate": "Delete the comments of others",
  "keys:read": "See the SDK keys",
  "keys:rotate": "Replace, create, change and revoke SDK keys",
  "webhooks:read": "See the webhooks and what they were sent (also requires: see the audit trail)",
  "webhooks:write": "Create, change, delete and test webhooks (also requires: see the audit trail)",
  "members:read": "See the members and the invitations",
  "members:write": "Invite, change and remove members that are not owners",
  "owners:write": "Invite and make owners, and change and remove them",
  "tokens:read": "See the access tokens for the project",
  "tokens:write": "Create and revoke access tokens for the project",
} satisfies Record<Permission, string>;
