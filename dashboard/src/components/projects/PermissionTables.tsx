/** Which permissions the signed-in account has, and which each role has, as the server decides them. */

import { VisuallyHidden } from "@mantine/core";
import type { Environment } from "../../api/client";
import type { OwnPermissions as Own, Permission } from "../../api/members";
import { ALL_PERMISSIONS } from "../../lib/permissions";
import { ROLES } from "../../lib/roles";
import { t } from "../../texts";
import { permissions } from "../../texts/permissions";
import { members as memberTexts } from "../../texts/members";
import { IconCheck, IconMinus } from "../shared/icons";
import classes from "./PermissionTables.module.css";

/** What the account may do in the whole project and in each of its environments. */
export function OwnPermissions({ own, environments }: { own: Own; environments: readonly Environment[] }) {
  const columns = [
    { key: "", name: memberTexts.wholeProject, allowed: own.permissions },
    ...environments.map(({ key, name }) => ({ key, name, allowed: own.environments[key] ?? [] })),
  ];
  return <PermissionTable label={memberTexts.own} columns={columns} />;
}

/** What each role may do. */
export function RolePermissions({ own }: { own: Own }) {
  const columns = ROLES.map((key) => ({ key, name: t.roles.roles[key], allowed: own.roles[key] ?? [] }));
  return <PermissionTable label={memberTexts.matrix} columns={columns} />;
}

interface Props {
  readonly label: string;
  readonly columns: readonly { readonly key: string; readonly name: string; readonly allowed: readonly Permission[] }[];
}

function PermissionTable({ label, columns }: Props) {
  return (
    // Focusable, because scrollable content must be scrollable by keyboard.
    <section className={classes.scroll} tabIndex={0} aria-label={label}>
      <table className={classes.matrix}>
        <thead>
          <tr>
            <th scope="col">{memberTexts.permission}</th>
            {columns.map(({ key, name }) => (
              <th key={key} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {ALL_PERMISSIONS.map((permission) => (
            <tr key={permission}>
              <th scope="row">
                {permissions[permission]} <code>{permission}</code>
              </th>
              {columns.map(({ key, allowed }) => (
                <Cell key={key} isAllowed={allowed.includes(permission)} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Cell({ isAllowed }: { isAllowed: boolean }) {
  const Icon = isAllowed ? IconCheck : IconMinus;
  return (
    <td data-allowed={isAllowed || undefined}>
      <Icon size={16} />
      <VisuallyHidden>{isAllowed ? memberTexts.allowed : memberTexts.notAllowed}</VisuallyHidden>
    </td>
  );
}
