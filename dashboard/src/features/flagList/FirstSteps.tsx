/** The steps to the first evaluation. Each is marked as soon as it is done. */

import { CloseButton, Text, Title, VisuallyHidden } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { EnvironmentPath, Flag } from "../../api/client";
import { firstEvaluationQuery, EVIDENCE_MILLISECONDS } from "../applications/evidenceCalls";
import { areStepsHidden, hideSteps } from "./hiddenSteps";
import { toFlagPage } from "../../ui/search";
import { useGuard } from "../../ui/useGuard";
import { firstSteps as texts } from "./firstStepsTexts";
import { IconCheck } from "../../ui/icons";
import { AnchorLink } from "../../ui/links";
import classes from "./FirstSteps.module.css";
import { visibleName } from "../../ui/givenText";

const ENVIRONMENT = "/projects/$projectId/environments/$environmentId";

interface Props {
  readonly path: EnvironmentPath;
  readonly flags: readonly Flag[];
}

export default function FirstSteps({ path, flags }: Props) {
  const [isHidden, setHidden] = useState(() => areStepsHidden(path.project_id));
  const { reason } = useGuard({ needs: "evaluations:read" });
  const { data: evaluation } = useQuery({
    ...firstEvaluationQuery(path),
    enabled: !isHidden && reason === null,
    refetchInterval: ({ state }) => (state.data?.items.length ? false : EVIDENCE_MILLISECONDS),
  });
  const [wasWaiting, setWaiting] = useState(false);
  if (evaluation === null && !wasWaiting) setWaiting(true);
  if (isHidden || !wasWaiting) return null;
  const params = { projectId: path.project_id, environmentId: path.env_id };
  const flag = flags[0];
  const hide = () => {
    hideSteps(path.project_id);
    setHidden(true);
  };
  return (
    <section className={classes.steps} aria-labelledby="first-steps">
      <Title order={2} size="h4" id="first-steps">
        {texts.heading}
      </Title>
      <CloseButton className={classes.hide} aria-label={texts.hide} onClick={hide} />
      <ol className={classes.list}>
        <Step title={texts.project} isDone />
        <Step title={texts.flag} isDone={flag !== undefined}>
          {flag === undefined && texts.flagText}
        </Step>
        <Step title={texts.evaluation} isDone={!!evaluation}>
          <span role="status">
            {evaluation ? texts.evaluated(evaluation.user_id && visibleName(evaluation.user_id)) : texts.waiting}
          </span>{" "}
          {evaluation && (
            <AnchorLink to={`${ENVIRONMENT}/history`} params={params} inherit underline="always">
              {texts.history}
            </AnchorLink>
          )}
          {!evaluation && flag && (
            <AnchorLink
              to={`${ENVIRONMENT}/flags/$flagId`}
              params={{ ...params, flagId: flag.id }}
              search={toFlagPage({ tab: "code" })}
              inherit
              underline="always"
            >
              {texts.use}
            </AnchorLink>
          )}
        </Step>
        <Step title={texts.on} isDone={flags.some((each) => each.enabled)}>
          {texts.onText}
        </Step>
      </ol>
    </section>
  );
}

interface StepProps {
  readonly title: string;
  readonly isDone: boolean;
  readonly children?: ReactNode;
}

function Step({ title, isDone, children }: StepProps) {
  return (
    <li className={classes.step} data-done={isDone || undefined}>
      <span className={classes.mark} aria-hidden>
        {isDone && <IconCheck size={18} />}
      </span>
      <div>
        <VisuallyHidden>{isDone ? texts.done(title) : texts.open(title)}</VisuallyHidden>
        <Text fw={500} aria-hidden className="break">
          {title}
        </Text>
        {children && (
          <Text size="sm" c="dimmed" component="div" className="break">
            {children}
          </Text>
        )}
      </div>
    </li>
  );
}
