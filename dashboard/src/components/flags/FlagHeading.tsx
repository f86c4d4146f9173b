/** The top of a flag's page: its name, and whether it is on. */

import { Container, Spoiler, Text, Title } from "@mantine/core";
import { lazy, type ReactNode, Suspense } from "react";
import { useOutage } from "../../api/outage";
import { useSwitch } from "../../api/switching";
import { audienceInFull, type RulesInForce } from "../../lib/audience";
import { draftOfFlag, type FlagPlace, isArchived } from "../../lib/flagPlace";
import { notifyRefused } from "../../lib/notify";
import { timeOfDay } from "../../lib/time";
import { useDialog } from "../../lib/hooks/useDialog";
import { useEnvironments } from "../../lib/hooks/useHere";
import { useTitle } from "../../lib/hooks/useTitle";
import { t } from "../../texts";
import { archive } from "../../texts/archive";
import { outage as outageTexts } from "../../texts/outage";
import { turnOff } from "../../texts/turnOn";
import { CopyIcon } from "../shared/CopyButton";
import { Dialog } from "../shared/Dialog";
import { lateDialog } from "../shared/lateDialog";
import { EditMenu } from "../shared/EditMenu";
import { IconArchive, IconPower } from "../shared/icons";
import { EnvironmentBadge } from "../projects/EnvironmentBadge";
import classes from "./FlagHeading.module.css";
import { Ownership } from "./Ownership";
import { FavouriteButton } from "../flagLists/FavouriteButton";
import { Propagation } from "./Propagation";
import { Tags } from "./Tags";
import { StateSwitch } from "./StateSwitch";
import { When } from "../shared/When";
import { Given } from "../shared/Given";
import { visibleProse } from "../../lib/givenText";

const EditFlagForm = lazy(() => import("./EditFlagForm"));
const ArchiveDialog = lateDialog(() => import("./ArchiveDialog").then((module) => module.ArchiveDialog));
const TurnOffEverywhere = lateDialog(() => import("./TurnOffEverywhere").then((module) => module.TurnOffEverywhere));
const ArchivedState = lazy(() => import("./ArchivedState"));

/** About three lines: the switch stays on the first screen. */
const DESCRIPTION_HEIGHT = 72;

type Props = FlagPlace & {
  readonly rulesInForce: RulesInForce | null;
  readonly changedAt: string;
  readonly children: ReactNode;
};

export function FlagHeading({ environment, path, flag, rulesInForce, changedAt, children }: Props) {
  useTitle(flag.name);
  const outage = useOutage();
  const turn = useSwitch(path, environment, ({ enabled }, error) =>
    notifyRefused(t.flags.notSwitched(flag.name, enabled), error),
  );
  const liveState = (
    <section className={classes.state} data-on={flag.enabled || undefined} aria-label={t.flag.state}>
      <StateSwitch
        needs="flags:write"
        size="large"
        on={flag.enabled}
        label={t.flags.switchLabel(flag.name)}
        onChange={(enabled) => turn({ flag, enabled })}
      />
      <div className={classes.words}>
        <Text role="status" className="break">
          {outage && `${outageTexts.lastKnown(timeOfDay(outage.since, outage.since))} `}
          {rulesInForce ? audienceInFull(flag, rulesInForce) : t.loading}
        </Text>
        {environment.critical && (
          <Text size="xs" c="dimmed">
            {t.shell.criticalNotice}
          </Text>
        )}
        <Propagation path={path} />
      </div>
      <EnvironmentBadge environment={environment} />
    </section>
  );
  return (
    <Container size={1160} py="lg" pb={80}>
      <div className={classes.title}>
        <div className={classes.names}>
          <Title order={1} className="break" lts="-0.015em">
            <Given text={flag.name} />
          </Title>
          <div className={classes.key}>
            <code>{flag.key}</code>
            <CopyIcon text={flag.key} label={t.flag.copyKey} />
            <FavouriteButton flag={flag} />
            <Text component="span" size="xs" c="dimmed">
              {t.flag.created} <When at={flag.created_at} />, {t.flag.changed} <When at={changedAt} />
            </Text>
          </div>
          <Tags tags={flag.tags} />
          {(flag.owner ?? flag.keep) && <Ownership flag={flag} />}
          {flag.description && (
            <Spoiler maxHeight={DESCRIPTION_HEIGHT} showLabel={t.flag.showMore} hideLabel={t.flag.showLess} mt={4}>
              <Text className={classes.description} dir="auto">
                {visibleProse(flag.description)}
              </Text>
            </Spoiler>
          )}
        </div>
        {!isArchived(flag) && <FlagTools path={path} flag={flag} />}
      </div>
      {isArchived(flag) ? (
        <Suspense>
          <ArchivedState path={path} flag={flag} environment={environment} rulesInForce={rulesInForce} />
        </Suspense>
      ) : (
        liveState
      )}
      {children}
    </Container>
  );
}

function FlagTools({ path, flag }: Pick<Props, "path" | "flag">) {
  const editing = useDialog(draftOfFlag(flag, "details"));
  const archival = useDialog();
  const everywhere = useDialog();
  const hasOthers = useEnvironments().length > 1;
  return (
    <>
      <EditMenu
        needs="flags:write"
        label={t.actions}
        deleteText={archive.archiveFlag}
        deleteIcon={<IconArchive size={16} />}
        more={hasOthers ? [{ text: turnOff.everywhere, icon: <IconPower size={16} />, onClick: everywhere.open }] : []}
        onEdit={editing.open}
        onDelete={archival.open}
        variant="default"
        size={34}
      />
      <Dialog title={t.flags.editHeading} {...editing.props}>
        <EditFlagForm path={path} flag={flag} onClose={editing.props.onClose} />
      </Dialog>
      <ArchiveDialog path={path} flag={flag} {...archival.props} />
      <TurnOffEverywhere projectId={path.project_id} flagKey={flag.key} name={flag.name} {...everywhere.props} />
    </>
  );
}
