/** The top of a flag's page: its name, and whether it is on. */

import { Container, Spoiler, Text, Title } from "@mantine/core";
import { lazy, type ReactNode, Suspense } from "react";
import { useOutage } from "../../api/outage";
import { useSwitch } from "../flags/switchingCalls";
import { audienceInFull, type RulesInForce } from "../../ui/conditions/audience";
import { draftOfFlag, type FlagPlace, isArchived } from "../../api/flagPlace";
import { notifyRefused } from "../../api/notify";
import { timeOfDay } from "../../ui/time";
import { useDialog } from "../../ui/useDialog";
import { useEnvironments } from "../../ui/useHere";
import { useTitle } from "../../ui/useTitle";
import { flagTexts, flagsTexts } from "../flags/flagsTexts";
import { common } from "../../ui/commonTexts";
import { shellTexts } from "../../ui/shellTexts";
import { archive } from "../archive/archiveTexts";
import { outage as outageTexts } from "../../ui/outageTexts";
import { turnOff } from "../flags/turnOnTexts";
import { CopyIcon } from "../../ui/CopyButton";
import { Dialog } from "../../ui/Dialog";
import { lateDialog } from "../../ui/lateDialog";
import { EditMenu } from "../../ui/EditMenu";
import { IconArchive, IconPower } from "../../ui/icons";
import { EnvironmentBadge } from "../projects/EnvironmentBadge";
import classes from "./FlagHeading.module.css";
import bar from "../../ui/StateBar.module.css";
import { Ownership } from "./Ownership";
import { FavouriteButton } from "../views/FavouriteButton";
import { Propagation } from "./Propagation";
import { Tags } from "../../ui/Tags";
import { StateSwitch } from "../flags/StateSwitch";
import { When } from "../../ui/When";
import { Given } from "../../ui/Given";
import { visibleProse } from "../../ui/givenText";

const EditFlagForm = lazy(() => import("./EditFlagForm"));
const ArchiveDialog = lateDialog(() => import("../archive/ArchiveDialog").then((module) => module.ArchiveDialog));
const TurnOffEverywhere = lateDialog(() => import("./TurnOffEverywhere").then((module) => module.TurnOffEverywhere));
const ArchivedState = lazy(() => import("../archive/ArchivedState"));

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
    notifyRefused(flagsTexts.notSwitched(flag.name, enabled), error),
  );
  const liveState = (
    <section className={bar.state} data-on={flag.enabled || undefined} aria-label={flagTexts.state}>
      <StateSwitch
        needs="flags:write"
        size="large"
        on={flag.enabled}
        label={flagsTexts.switchLabel(flag.name)}
        onChange={(enabled) => turn({ flag, enabled })}
      />
      <div className={bar.words}>
        <Text role="status" className="break">
          {outage && `${outageTexts.lastKnown(timeOfDay(outage.since, outage.since))} `}
          {rulesInForce ? audienceInFull(flag, rulesInForce) : common.loading}
        </Text>
        {environment.critical && (
          <Text size="xs" c="dimmed">
            {shellTexts.criticalNotice}
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
            <CopyIcon text={flag.key} label={flagTexts.copyKey} />
            <FavouriteButton flag={flag} />
            <Text component="span" size="xs" c="dimmed">
              {flagTexts.created} <When at={flag.created_at} />, {flagTexts.changed} <When at={changedAt} />
            </Text>
          </div>
          <Tags tags={flag.tags} />
          {(flag.owner ?? flag.keep) && <Ownership flag={flag} />}
          {flag.description && (
            <Spoiler
              maxHeight={DESCRIPTION_HEIGHT}
              showLabel={flagTexts.showMore}
              hideLabel={flagTexts.showLess}
              mt={4}
            >
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
        label={common.actions}
        deleteText={archive.archiveFlag}
        deleteIcon={<IconArchive size={16} />}
        more={hasOthers ? [{ text: turnOff.everywhere, icon: <IconPower size={16} />, onClick: everywhere.open }] : []}
        onEdit={editing.open}
        onDelete={archival.open}
        variant="default"
        size={34}
      />
      <Dialog title={flagsTexts.editHeading} {...editing.props}>
        <EditFlagForm path={path} flag={flag} onClose={editing.props.onClose} />
      </Dialog>
      <ArchiveDialog path={path} flag={flag} {...archival.props} />
      <TurnOffEverywhere projectId={path.project_id} flagKey={flag.key} name={flag.name} {...everywhere.props} />
    </>
  );
}
