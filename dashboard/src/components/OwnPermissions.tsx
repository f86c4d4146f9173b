/** What the signed-in account may do in the whole project and in each of its environments. */

import { VisuallyHidden } from "@mantine/core";
import type { Environment } from "../api/client";
import type { OwnPermissions as Own, Permission } from "../api/members";
import { t } from "../texts";
import { IconCheck, IconMinus } from "./icons";
import classes from "./Members.module.css";

const ALL = Object.keys(t.members.permissions) as Permission[];

export function OwnPermissions({ own, environments }: { own: Own; environments: readonly Environment[] }) {
  const columns = [
    { key: "", name: t.members.wholeProject, allowed: own.permissions },
    ...environments.map(({ key, name }) => ({ key, name, allowed: own.environments[key] ?? [] })),
  ];
  return (
    // Focusable, because scrollable content must be scrollable by keyboard.
    <section className={classes.scroll} tabIndex={0} aria-label={t.members.own}>
      <table className={classes.matrix}>
        <thead>
          <tr>
            <th scope="col">{t.members.permission}</th>
            {columns.map(({ key, name }) => (
              <th key={key} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {ALL.map((permission) => (
            <tr key={permission}>
              <th scope="row">
                {t.members.permissions[permission]} <code>{permission}</code>
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
      <VisuallyHidden>{isAllowed ? t.members.allowed : t.members.notAllowed}</VisuallyHidden>
    </td>
  );
}
