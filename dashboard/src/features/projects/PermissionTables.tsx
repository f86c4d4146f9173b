/** Which permissions the signed-in account has, and which each role has, as the server decides them. */

import { VisuallyHidden } from "@mantine/core";
import type { Environment } from "../../api/client";
import type { OwnPermissions as Own, Permission } from "../../api/members";
import { ALL_PERMISSIONS } from "./permissions";
import { ROLES } from "../../ui/roles";
import { rolesTexts } from "../../ui/rolesTexts";
import { permissions } from "./permissionsTexts";
import { members as memberTexts } from "./membersTexts";
import { DataTable, ScrollRegion } from "../../ui/DataTable";
import { IconCheck, IconMinus } from "../../ui/icons";
import classes from "./PermissionTables.module.css";

/** The permissions of the account in the whole project and in each of its environments. */
export function OwnPermissions({ own, environments }: { own: Own; environments: readonly Environment[] }) {
  const columns = [
    { key: "", name: memberTexts.wholeProject, allowed: own.permissions },
    ...environments.map(({ key, name }) => ({ key, name, allowed: own.environments[key] ?? [] })),
  ];
  return <PermissionTable label={memberTexts.own} columns={columns} />;
}

/** The permissions of each role. */
export function RolePermissions({ own }: { own: Own }) {
  const columns = ROLES.map((key) => ({ key, name: rolesTexts.roles[key], allowed: own.roles[key] ?? [] }));
  return <PermissionTable label={memberTexts.matrix} columns={columns} />;
}

interface Props {
  readonly label: string;
  readonly columns: readonly { readonly key: string; readonly name: string; readonly allowed: readonly Permission[] }[];
}

function PermissionTable({ label, columns }: Props) {
  return (
    <ScrollRegion label={label}>
      <DataTable
        className={classes.matrix}
        columns={[
          { head: memberTexts.permission, cell: (permission) => <Name permission={permission} /> },
          ...columns.map(({ name, allowed }) => ({
            head: name,
            cell: (permission: Permission) => <Allowed isAllowed={allowed.includes(permission)} />,
            attributes: (permission: Permission) => ({ "data-allowed": allowed.includes(permission) || undefined }),
          })),
        ]}
        rows={ALL_PERMISSIONS}
        keyOf={(permission) => permission}
      />
    </ScrollRegion>
  );
}

function Name({ permission }: { permission: Permission }) {
  return (
    <>
      {permissions[permission]} <code>{permission}</code>
    </>
  );
}

function Allowed({ isAllowed }: { isAllowed: boolean }) {
  const Icon = isAllowed ? IconCheck : IconMinus;
  return (
    <>
      <Icon size={16} />
      <VisuallyHidden>{isAllowed ? memberTexts.allowed : memberTexts.notAllowed}</VisuallyHidden>
    </>
  );
}
