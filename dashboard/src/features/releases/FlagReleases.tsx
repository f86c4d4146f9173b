/** The releases of a flag: the open one, a call and a dialog that make one, and those that have ended. */

import { Group, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazy } from "react";
import type { Rule } from "../../api/client";
import { releasesQuery } from "./releasesCalls";
import { type FlagPlace, isArchived } from "../../api/flagPlace";
import { isOpen } from "./releaseState";
import { experiments } from "./experimentsTexts";
import { releases as texts } from "./releasesTexts";
import { useDialog } from "../../ui/useDialog";
import { Dialog } from "../../ui/Dialog";
import { Empty } from "../../ui/Empty";
import { GuardedButton } from "../../ui/GuardedButton";
import { IconHistory, IconPlus } from "../../ui/icons";
import { RowsSkeleton } from "../../ui/PageSkeleton";
import { LoadFailed } from "../../ui/ProblemPage";
import { EarlierReleases } from "./EarlierReleases";
import { Unfold } from "../../ui/Unfold";
import { refusalOf } from "./experiments";
import { ReleaseCard } from "./ReleaseCard";
import classes from "./Releases.module.css";

const ScheduleForm = lazy(() => import("./ScheduleForm"));
const ExperimentForm = lazy(() => import("./ExperimentForm"));
const StepByStep = lazy(() => import("./StepByStep"));

type Props = FlagPlace & { readonly rules: readonly Rule[] };

export default function FlagReleases({ rules, ...place }: Props) {
  const { path, flag } = place;
  const scheduling = useDialog();
  const experimenting = useDialog();
  const { data: releases, error, refetch } = useQuery(releasesQuery(path));
  if (!releases) return error ? <LoadFailed error={error} onRetry={refetch} /> : <RowsSkeleton rows={5} height={48} />;
  const open = releases.find(isOpen);
  const ended = releases.filter((each) => !isOpen(each));
  return (
    <div className={classes.page}>
      {!isArchived(flag) && (
        <section aria-label={texts.heading}>
          <div className={classes.head}>
            <div className={classes.names}>
              <Title order={2}>{texts.heading}</Title>
              <Text c="dimmed" size="sm">
                {texts.intro}
              </Text>
            </div>
            <Group gap="xs">
              {flag.variants.length > 1 && (
                <GuardedButton
                  needs="flags:write"
                  refusal={open ? texts.hasOpen : refusalOf(flag)}
                  variant="default"
                  size="xs"
                  leftSection={<IconPlus size={14} />}
                  onClick={experimenting.open}
                >
                  {experiments.start}
                </GuardedButton>
              )}
              <GuardedButton
                needs="flags:write"
                refusal={open ? texts.hasOpen : null}
                variant="default"
                size="xs"
                leftSection={<IconPlus size={14} />}
                onClick={scheduling.open}
              >
                {texts.newSchedule}
              </GuardedButton>
            </Group>
          </div>
          <Dialog title={experiments.heading(flag.name)} {...experimenting.props}>
            <ExperimentForm path={path} flag={flag} onClose={experimenting.props.onClose} />
          </Dialog>
          <Dialog title={texts.scheduleHeading(flag.name)} {...scheduling.props}>
            <ScheduleForm path={path} enabled={flag.enabled} rules={rules} onClose={scheduling.props.onClose} />
          </Dialog>
        </section>
      )}
      {open ? (
        <ReleaseCard path={path} flag={flag} release={open} rules={rules} />
      ) : (
        <Empty
          icon={<IconHistory size={22} />}
          title={texts.emptyHeading}
          text={isArchived(flag) ? texts.emptyArchived : texts.emptyText}
        />
      )}
      {!isArchived(flag) && (
        <section aria-label={texts.stepByStep}>
          <Title order={2}>{texts.stepByStep}</Title>
          <Text size="sm" c="dimmed">
            {texts.stepByStepIntro}
          </Text>
          <Unfold label={texts.showCall}>
            <StepByStep path={path} flag={flag} />
          </Unfold>
        </section>
      )}
      {ended.length > 0 && (
        <section aria-label={texts.earlier}>
          <Title order={2} mb="sm">
            {texts.earlier}
          </Title>
          <EarlierReleases path={path} flag={flag} releases={ended} rules={rules} />
          <Text size="xs" c="dimmed" mt="xs">
            {texts.earlierNote}
          </Text>
        </section>
      )}
    </div>
  );
}
