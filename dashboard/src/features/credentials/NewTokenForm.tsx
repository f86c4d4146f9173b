/** The form for a new access token, which offers only what its maker may do. */

import { Button, Checkbox, Group, Input, SimpleGrid, Stack } from "@mantine/core";
import { useForm, type UseFormReturnType } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import type { Environment } from "../../api/client";
import type { OwnPermissions, Permission } from "../../api/members";
import { type CreatedToken, useCreateToken } from "./tokensCalls";
import { providersQuery } from "../identity/singleSignOnCalls";
import { isDay } from "./expiry";
import { grantable, GROUPS, NEW_TOKEN, PRESETS, type TokenDraft, tokenOf } from "./tokenDrafts";
import { accountsTexts } from "../identity/accountsTexts";
import { common } from "../../ui/commonTexts";
import { permissions as meanings } from "../projects/permissionsTexts";
import { tokens as tokenTexts } from "./tokensTexts";
import { PasswordField } from "../identity/AccountForm";
import { DialogForm } from "../../ui/DialogForm";
import { ExpiryFields } from "./ExpiryFields";
import { NameField } from "../../ui/fields";
import classes from "../../ui/RowFields.module.css";

export interface TokenPlace {
  /** Null for a personal token. */
  readonly projectId: string | null;
  /** Of the project. */
  readonly environments: readonly Environment[];
  readonly own: OwnPermissions | undefined;
}

interface Props extends TokenPlace {
  readonly onCreated: (created: CreatedToken) => void;
  readonly onClose: () => void;
}

export function NewTokenForm({ projectId, environments, own, onCreated, onClose }: Props) {
  const { mutateAsync: create } = useCreateToken(projectId);
  const { data: providers = [] } = useQuery(providersQuery);
  const form = useForm<TokenDraft>({
    initialValues: NEW_TOKEN,
    validate: {
      date: (date, { expires_at: choice }) => (choice === "date" && !isDay(date) ? tokenTexts.dateMissing : null),
    },
  });
  const chosen = environments.filter((each) => form.values.environments.includes(each.id));
  const allowed = grantable(
    own,
    chosen.map(({ key }) => key),
  );
  const submit = async (draft: TokenDraft) => onCreated(await create(tokenOf(draft, allowed, Date.now())));
  return (
    <DialogForm form={form} action={tokenTexts.create} onSubmit={submit} onClose={onClose}>
      <NameField placeholder={tokenTexts.namePlaceholder} {...form.getInputProps("name")} />
      {environments.length > 0 && (
        <Checkbox.Group
          label={`${tokenTexts.environments} (${common.optional})`}
          description={tokenTexts.environmentsHint}
          {...form.getInputProps("environments")}
          value={[...form.values.environments]}
        >
          <Group gap="md" mt="xs">
            {environments.map(({ id, name }) => (
              <Checkbox key={id} value={id} label={name} className="break" />
            ))}
          </Group>
        </Checkbox.Group>
      )}
      <PermissionFields form={form} allowed={allowed} isPersonal={projectId === null} />
      <ExpiryFields
        choice={form.values.expires_at}
        select={form.getInputProps("expires_at")}
        date={form.getInputProps("date")}
        neverHint={tokenTexts.neverHint}
      />
      <PasswordField
        label={accountsTexts.currentPassword}
        description={providers.length > 0 ? tokenTexts.passwordOrProviderHint : tokenTexts.passwordHint}
        {...form.getInputProps("current_password")}
      />
    </DialogForm>
  );
}

type DraftForm = UseFormReturnType<TokenDraft>;

interface PermissionProps {
  readonly form: DraftForm;
  readonly allowed: readonly Permission[];
  readonly isPersonal: boolean;
}

function PermissionFields({ form, allowed, isPersonal }: PermissionProps) {
  const offered = (permissions: readonly Permission[]) => permissions.filter((each) => allowed.includes(each));
  const presets = Object.entries(PRESETS) as [keyof typeof PRESETS, readonly Permission[]][];
  const groups = Object.entries(GROUPS) as [keyof typeof GROUPS, readonly Permission[]][];
  return (
    <>
      <Input.Wrapper label={tokenTexts.presets} labelElement="div">
        <Group gap="xs" role="group" aria-label={tokenTexts.presets}>
          {presets.map(([name, permissions]) => (
            <Button
              key={name}
              variant="default"
              size="compact-sm"
              onClick={() => form.setFieldValue("permissions", offered(permissions))}
            >
              {tokenTexts.presetNames[name]}
            </Button>
          ))}
        </Group>
      </Input.Wrapper>
      <Checkbox.Group
        label={tokenTexts.permissions}
        description={isPersonal ? tokenTexts.ownPermissionsHint : tokenTexts.permissionsHint}
        {...form.getInputProps("permissions")}
        value={offered(form.values.permissions)}
      >
        <Stack gap="sm" mt="xs">
          {groups.map(([name, permissions]) =>
            offered(permissions).length === 0 ? null : (
              <fieldset key={name} className={classes.fieldset}>
                <legend className={classes.legend}>{tokenTexts.groups[name]}</legend>
                <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" verticalSpacing="xs">
                  {offered(permissions).map((each) => (
                    <Checkbox key={each} value={each} label={meanings[each]} description={each} />
                  ))}
                </SimpleGrid>
              </fieldset>
            ),
          )}
        </Stack>
      </Checkbox.Group>
    </>
  );
}
