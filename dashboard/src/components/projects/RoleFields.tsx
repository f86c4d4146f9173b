/** The role in a project, and other roles in some of its environments. */

import { NativeSelect, Text } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import type { Environment } from "../../api/client";
import { ENVIRONMENT_ROLES, ROLES, type RolesDraft } from "../../lib/roles";
import { t } from "../../texts";

interface Props<Draft extends RolesDraft> {
  readonly form: UseFormReturnType<Draft>;
  readonly environments: readonly Environment[];
  readonly mayMakeOwners: boolean;
}

export function RoleFields<Draft extends RolesDraft>({ form, environments, mayMakeOwners }: Props<Draft>) {
  const { role } = form.values;
  return (
    <>
      <NativeSelect
        label={t.members.role}
        data-autofocus
        description={t.members.roleHints[role]}
        data={ROLES.map((value) => ({
          value,
          label: t.members.roles[value],
          disabled: value === "owner" && !mayMakeOwners,
        }))}
        {...form.getInputProps("role")}
      />
      {role === "owner" ? (
        <Text size="xs" c="dimmed">
          {t.members.ownerEverywhere}
        </Text>
      ) : (
        environments.map(({ key, name }) => (
          <NativeSelect
            key={key}
            label={t.members.roleInEnvironment(name)}
            data={[
              { value: "", label: t.members.asInProject },
              ...ENVIRONMENT_ROLES.map((value) => ({ value, label: t.members.roles[value] })),
            ]}
            {...form.getInputProps(`environments.${key}`)}
          />
        ))
      )}
    </>
  );
}
