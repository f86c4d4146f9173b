/** A release: its state and why, its steps and its results. An open one has buttons. */

import { Alert, Badge, Group, Text, Title } from "@mantine/core";
import { lazy } from "react";
import type { Rule } from "../../api/client";
import type { Release } from "./releasesCalls";
import type { FlagPlace } from "../../api/flagPlace";
import { isObserved, isSchedule, nameOf } from "./releases";
import { isOpen } from "./releaseState";
import { inFull } from "../../ui/time";
import { comments } from "../comments/commentsTexts";
import { releases as texts } from "./releasesTexts";
import { Given } from "../../ui/Given";
import { IconAlert, IconPencil } from "../../ui/icons";
import { Unfold } from "../../ui/Unfold";
import { When } from "../../ui/When";
import { NextStepWaits } from "./NextStepWaits";
import { ReleaseButtons } from "./ReleaseButtons";
import classes from "./Releases.module.css";
import { Results } from "./Results";
import { STATE_COLOURS } from "./stateColours";
import { Steps } from "./Steps";
import { Thresholds } from "./Thresholds";

const Comments = lazy(() => import("../comments/Comments"));

type Props = Pick<FlagPlace, "path" | "flag"> & {
  readonly release: Release;
  readonly rules: readonly Rule[];
};

const TROUBLE = ["stopped", "failed", "paused"];

export function ReleaseCard({ path, flag, release, rules }: Props) {
  const open = isOpen(release);
  return (
    <article className={classes.card} aria-label={nameOf(release)}>
      <div className={classes.head}>
        <div className={classes.names}>
          <Group gap="xs">
            <Title order={2} className="break">
              <Given text={nameOf(release)} />
            </Title>
            <Badge {...STATE_COLOURS[release.state]} role="status">
              {texts.states[release.state]}
            </Badge>
          </Group>
          <Text size="sm" c="dimmed" className="break">
            {texts.made} <When at={release.created_at} /> {texts.by(release.author.email)}
            {release.ended_at !== null && (
              <>
                , {texts.ended} <When at={release.ended_at} />
              </>
            )}
            {open && release.next_step === null && release.due_at !== null && (
              <>
                , {texts.watchedUntil} <time dateTime={release.due_at}>{inFull(release.due_at)}</time>
              </>
            )}
          </Text>
        </div>
        {open && <ReleaseButtons path={path} flag={flag} release={release} />}
      </div>
      {release.reason !== null && (
        <Alert
          color={release.state === "stopped" || release.state === "failed" ? "alarm" : "yellow"}
          variant="light"
          icon={TROUBLE.includes(release.state) ? <IconAlert /> : undefined}
          py="xs"
          className="break"
        >
          {release.reason}
        </Alert>
      )}
      <Steps release={release} rules={rules} />
      {open && (isObserved(release) || release.thresholds.length > 0) && (
        <NextStepWaits path={path} release={release} />
      )}
      {release.thresholds.length > 0 && <Thresholds path={path} release={release} />}
      {isObserved(release) ? (
        <Results path={path} flag={flag} release={release} />
      ) : (
        !isSchedule(release) &&
        release.thresholds.length === 0 && (
          <Text size="sm" c="dimmed">
            {texts.notCounted}
          </Text>
        )
      )}
      <Unfold label={comments.heading} icon={<IconPencil size={15} />}>
        <Comments place={{ kind: "release", path, releaseId: release.id }} />
      </Unfold>
    </article>
  );
}
