/** The role in a project, and other roles in some of its environments. */

import { NativeSelect, Text } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import type { Environment } from "../../api/client";
import { ENVIRONMENT_ROLES, ROLES, type RolesDraft } from "../../ui/roles";
import { rolesTexts } from "../../ui/rolesTexts";
import { members as memberTexts } from "./membersTexts";

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
        label={memberTexts.role}
        data-autofocus
        description={memberTexts.roleHints[role]}
        data={ROLES.map((value) => ({
          value,
          label: rolesTexts.roles[value],
          disabled: value === "owner" && !mayMakeOwners,
        }))}
        {...form.getInputProps("role")}
      />
      {role === "owner" ? (
        <Text size="xs" c="dimmed">
          {memberTexts.ownerEverywhere}
        </Text>
      ) : (
        environments.map(({ key, name }) => (
          <NativeSelect
            key={key}
            label={memberTexts.roleInEnvironment(name)}
            data={[
              { value: "", label: memberTexts.asInProject },
              ...ENVIRONMENT_ROLES.map((value) => ({ value, label: rolesTexts.roles[value] })),
            ]}
            {...form.getInputProps(`environments.${key}`)}
          />
        ))
      )}
    </>
  );
}
