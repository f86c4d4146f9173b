/** The top of a flag's page: its name, and whether it is on. */

import { Container, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense } from "react";
import { isProduction } from "../api/environments";
import { useDeleteFlag, useSwitchFlag } from "../api/flags";
import { audienceInFull, type RulesInForce } from "../lib/audience";
import type { FlagPlace } from "../lib/flagPlace";
import { notifyRefused } from "../lib/notify";
import { useDialog } from "../lib/useDialog";
import { t } from "../texts";
import { DeleteDialog } from "./ConfirmDialog";
import { CopyIcon } from "./CopyButton";
import { Dialog } from "./Dialog";
import { EditMenu } from "./EditMenu";
import { EnvironmentBadge } from "./EnvironmentBadge";
import classes from "./FlagHeading.module.css";
import { Tags } from "./Tags";
import { StateSwitch } from "./StateSwitch";
import { When } from "./When";

const Propagation = lazy(() => import("./Propagation"));
const EditFlagForm = lazy(() => import("./EditFlagForm"));

type Props = FlagPlace & { readonly rulesInForce: RulesInForce | null; readonly children: ReactNode };

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
          <Tags tags={flag.tags} />
          {flag.description && (
            <Text className={classes.description} mt={4}>
              {flag.description}
            </Text>
          )}
        </div>
        <FlagTools path={path} flag={flag} />
      </div>
      <section className={classes.state} data-on={flag.enabled || undefined} aria-label={t.flag.state}>
        <StateSwitch
          needs="flags:write"
          size="large"
          on={flag.enabled}
          label={t.flags.switchLabel(flag.name)}
          onChange={(enabled) => mutate({ flag, enabled })}
        />
        <div className={classes.words}>
          <Text role="status" className="break">
            {rulesInForce ? audienceInFull(flag, rulesInForce) : t.loading}
          </Text>
          {isProduction(environment) && (
            <Text size="xs" c="dimmed">
              {t.shell.productionNotice}
            </Text>
          )}
          <Suspense>
            <Propagation path={path} />
          </Suspense>
        </div>
        <EnvironmentBadge environment={environment} />
      </section>
      {children}
    </Container>
  );
}

function FlagTools({ path, flag }: Pick<Props, "path" | "flag">) {
  const editing = useDialog();
  const deletion = useDialog();
  const navigate = useNavigate();
  const { mutateAsync } = useDeleteFlag(path);
  const remove = async () => {
    await mutateAsync();
    await navigate({
      to: "/projects/$projectId/environments/$environmentId",
      params: { projectId: path.project_id, environmentId: path.env_id },
      replace: true,
    });
  };
  return (
    <>
      <EditMenu
        needs="flags:write"
        label={t.actions}
        deleteText={t.flags.delete}
        onEdit={editing.open}
        onDelete={deletion.open}
        variant="default"
        size={34}
      />
      <Dialog title={t.flags.editHeading} {...editing.props}>
        <EditFlagForm path={path} flag={flag} onClose={editing.props.onClose} />
      </Dialog>
      <DeleteDialog name={flag.name} consequence={t.deletion.flag} onDelete={remove} {...deletion.props} />
    </>
  );
}
