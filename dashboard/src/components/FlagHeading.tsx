/** What the eye meets first on a flag's page: its name, and whether it is on. */

import { ActionIcon, Container, Menu, Text, Title } from "@mantine/core";
import { useDisclosure, useDocumentTitle } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { isProduction } from "../api/environments";
import { useDeleteFlag, useSwitchFlag } from "../api/flags";
import { audienceInFull } from "../lib/audience";
import type { FlagPlace } from "../lib/flagPlace";
import { notifyDone, notifyRefused } from "../lib/notify";
import { t } from "../texts";
import { CopyIcon } from "./CopyButton";
import { DeleteDialog } from "./DeleteDialog";
import { EditFlagDialog } from "./EditFlagDialog";
import { EnvironmentBadge } from "./EnvironmentBadge";
import classes from "./FlagHeading.module.css";
import { IconDots, IconPencil, IconTrash } from "./icons";
import { StateSwitch } from "./StateSwitch";
import { When } from "./When";

type Props = FlagPlace & { readonly rulesInForce: number; readonly children: ReactNode };

export function FlagHeading({ environment, path, flag, rulesInForce, children }: Props) {
  useDocumentTitle(`${flag.name} · ${t.product}`);
  const { mutate } = useSwitchFlag(path, ({ enabled }, error) =>
    notifyRefused(t.flags.notSwitched(flag.name, enabled), error),
  );
  return (
    <Container size={1160} py="lg" pb={80}>
      <div className={classes.title}>
        <div className={classes.names}>
          <Title order={1} className="break" lts="-0.015em">
            {flag.name}
          </Title>
          <div className={classes.key}>
            <code>{flag.key}</code>
            <CopyIcon text={flag.key} label={t.flag.copyKey} />
            <Text component="span" size="xs" c="dimmed">
              {t.flag.created} <When at={flag.created_at} />, {t.flag.changed} <When at={flag.updated_at} />
            </Text>
          </div>
          {flag.description && (
            <Text className={classes.description} mt={4}>
              {flag.description}
            </Text>
          )}
        </div>
        <FlagMenu path={path} flag={flag} />
      </div>
      <section className={classes.state} data-on={flag.enabled || undefined} aria-label={t.flag.state}>
        <StateSwitch
          size="large"
          on={flag.enabled}
          label={t.flags.switchLabel(flag.name)}
          onChange={(enabled) => mutate({ flag, enabled })}
        />
        <div className={classes.words}>
          <Text role="status">{audienceInFull(flag, rulesInForce)}</Text>
          {isProduction(environment) && (
            <Text size="xs" c="dimmed">
              {t.shell.productionNotice}
            </Text>
          )}
        </div>
        <EnvironmentBadge environment={environment} />
      </section>
      {children}
    </Container>
  );
}

function FlagMenu({ path, flag }: Pick<Props, "path" | "flag">) {
  const [editing, edit] = useDisclosure(false);
  const [deleting, remove] = useDisclosure(false);
  const navigate = useNavigate();
  const { mutateAsync } = useDeleteFlag(path);
  const confirm = async () => {
    await mutateAsync();
    await navigate({
      to: "/projects/$projectId/environments/$environmentId",
      params: { projectId: path.project_id, environmentId: path.env_id },
      replace: true,
    });
    notifyDone(t.deletion.done(flag.name));
  };
  return (
    <>
      <Menu position="bottom-end" width={180} shadow="md">
        <Menu.Target>
          <ActionIcon variant="default" size={34} aria-label={t.actions}>
            <IconDots />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconPencil size={16} />} onClick={edit.open}>
            {t.flags.edit}
          </Menu.Item>
          <Menu.Item leftSection={<IconTrash size={16} />} c="var(--mantine-color-error)" onClick={remove.open}>
            {t.flags.delete}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <EditFlagDialog path={path} flag={flag} opened={editing} onClose={edit.close} />
      <DeleteDialog
        name={flag.name}
        consequence={t.deletion.flag}
        opened={deleting}
        onClose={remove.close}
        onDelete={confirm}
      />
    </>
  );
}
