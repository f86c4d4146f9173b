/** The user and the time of an evaluation, and the result of one flag. */

import { Group, Text } from "@mantine/core";
import type { Environment, Project } from "../../api/client";
import type { Evaluation } from "../history/historyCalls";
import { localMinute } from "../audit/markers";
import { inFull } from "../../ui/time";
import { historyTexts } from "../history/historyTexts";
import { common } from "../../ui/commonTexts";
import { people as texts } from "./peopleTexts";
import { Attributes } from "../history/Attributes";
import { EnvironmentBadge } from "../projects/EnvironmentBadge";
import { Facts } from "../../ui/Facts";
import { AnchorLink } from "../../ui/links";
import classes from "./People.module.css";
import { Given } from "../../ui/Given";

interface Props {
  readonly project: Project;
  readonly environment: Environment;
  readonly evaluation: Evaluation;
  /** The key of the flag to show; nothing is shown if the evaluation has no such flag. */
  readonly flagKey: string;
}

export function RecordedSummary({ project, environment, evaluation, flagKey }: Props) {
  const { user_id: id, user_email: email, evaluated_at: at, attributes } = evaluation;
  const who = id ?? email ?? texts.unknownUser;
  const outcome = Object.hasOwn(evaluation.flags, flagKey) ? evaluation.flags[flagKey] : undefined;
  const kept = attributes && Object.keys(attributes).length > 0;
  return (
    <>
      {outcome && (
        <div className={classes.said}>
          <Text fw={570}>
            <Given text={texts.was(flagKey, (outcome.enabled ? common.on : common.off).toLowerCase(), who)} />
          </Text>
          <Text size="sm">{outcomeInWords(outcome)}</Text>
        </div>
      )}
      <Facts
        facts={[
          [texts.user, <Given key="user" text={[id, email].filter(Boolean).join(", ") || historyTexts.anonymous} />],
          [texts.environment, <EnvironmentBadge key="environment" environment={environment} />],
          [
            texts.at,
            <time key="at" dateTime={at}>
              {inFull(at)}
            </time>,
          ],
          [texts.attributes, kept ? <Attributes key="kept" of={attributes} /> : texts.noAttributes],
        ]}
      />
      <Group gap="md" my="md">
        {(id !== null || email !== null) && (
          <AnchorLink
            to="/projects/$projectId/user"
            params={{ projectId: project.id }}
            search={{ ...(id !== null ? { id } : { email: email ?? "" }), environment: environment.key }}
          >
            {texts.allOfUser}
          </AnchorLink>
        )}
        {outcome && (
          <AnchorLink
            to="/projects/$projectId/environments/$environmentId/changes"
            params={{ projectId: project.id, environmentId: environment.id }}
            search={{ flag: flagKey, until: localMinute(Date.parse(at), { up: true }) }}
          >
            {texts.changesUntil}
          </AnchorLink>
        )}
      </Group>
    </>
  );
}

type Outcome = Evaluation["flags"][string];

/** The reason with what else was recorded. */
export function outcomeInWords({ reason, variant, bucket }: Outcome): string {
  const more = [variant != null && historyTexts.variant(variant), bucket != null && texts.bucket(bucket)];
  return [reason, ...more].filter(Boolean).join(", ");
}
