/**
 * Waits for the first evidence that a program uses the flag, and shows it.
 *
 * The server is asked every few seconds, only while the page is visible, and only for some minutes.
 */

import { Button, Text } from "@mantine/core";
import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import type { FlagPath } from "../../api/client";
import { localEvidenceQuery, newestEvaluationQuery, EVIDENCE_MILLISECONDS } from "./evidenceCalls";
import { isNews, type Evidence, evidenceOfApplications, evidenceOfEvaluation } from "./evidence";
import { toFlagPage } from "../../ui/search";
import { useGuard } from "../../ui/useGuard";
import { usage as texts } from "./usageTexts";
import { IconCheck } from "../../ui/icons";
import { AnchorLink } from "../../ui/links";
import classes from "./EvidenceOfUse.module.css";
import { When } from "../../ui/When";

const LONGEST_WAIT_MILLISECONDS = 300_000;
const ENVIRONMENT = "/projects/$projectId/environments/$environmentId";

export function EvidenceOfUse({ path, isLocal }: { path: FlagPath; isLocal: boolean }) {
  const { reason } = useGuard({ needs: "evaluations:read" });
  if (reason !== null) return null;
  return isLocal ? <SignsOfApplications path={path} /> : <SignsOfEvaluations path={path} />;
}

function SignsOfEvaluations({ path }: { path: FlagPath }) {
  const wait = useWait();
  const query = useQuery({ ...newestEvaluationQuery(path), refetchInterval: wait.interval });
  const params = { projectId: path.project_id, environmentId: path.env_id, flagId: path.flag_id };
  const user = query.data?.user_id;
  return (
    <Waiting
      wait={wait}
      query={query}
      evidence={evidenceOfEvaluation(query.data ?? null)}
      words={query.data ? texts.waitingAgain : texts.waiting}
    >
      <AnchorLink
        to={`${ENVIRONMENT}/flags/$flagId`}
        params={params}
        search={toFlagPage({ tab: "history", ...(user && { user }) })}
        size="sm"
      >
        {texts.showHistory}
      </AnchorLink>
    </Waiting>
  );
}

function SignsOfApplications({ path }: { path: FlagPath }) {
  const wait = useWait();
  const query = useQuery({ ...localEvidenceQuery(path), refetchInterval: wait.interval });
  const { connections, hours } = query.data ?? { connections: [], hours: [] };
  return (
    <Waiting wait={wait} query={query} evidence={evidenceOfApplications(connections, hours)} words={texts.waitingLocal}>
      <AnchorLink
        to={`${ENVIRONMENT}/applications`}
        params={{ projectId: path.project_id, environmentId: path.env_id }}
        size="sm"
      >
        {texts.showApplications}
      </AnchorLink>
    </Waiting>
  );
}

interface Wait {
  /** False after the wait has ended. */
  readonly interval: number | false;
  readonly startedAt: number;
  readonly end: () => void;
  readonly goOn: () => void;
}

/** Ends by itself after some minutes. */
function useWait(): Wait {
  const [wait, setWait] = useState(() => ({ isOn: true, startedAt: Date.now() }));
  const end = () => setWait((known) => (known.isOn ? { ...known, isOn: false } : known));
  useEffect(() => {
    if (!wait.isOn) return undefined;
    const timer = setTimeout(end, LONGEST_WAIT_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [wait]);
  return {
    interval: wait.isOn && EVIDENCE_MILLISECONDS,
    startedAt: wait.startedAt,
    end,
    goOn: () => setWait({ isOn: true, startedAt: Date.now() }),
  };
}

interface WaitingProps {
  readonly wait: Wait;
  readonly query: Pick<UseQueryResult, "isSuccess">;
  readonly evidence: Evidence | null;
  readonly words: string;
  /** A link to more of what was found. */
  readonly children: ReactNode;
}

function Waiting({ wait, query, evidence, words, children }: WaitingProps) {
  const [first, setFirst] = useState<Evidence | null | undefined>(undefined);
  if (first === undefined && query.isSuccess) setFirst(evidence);
  const isFound = first !== undefined && isNews(evidence, first, wait.startedAt);
  const isOver = !isFound && wait.interval === false;
  const { end } = wait;
  useEffect(() => {
    if (isFound) end();
  }, [isFound, end]);
  return (
    <section className={classes.evidence} data-found={isFound || undefined} aria-label={texts.evidence}>
      {isFound && <IconCheck size={18} className={classes.icon} />}
      <Text role="status" size="sm" className="break">
        {isFound ? evidence?.words : isOver ? texts.stopped : words}
      </Text>
      {evidence && (
        <Text size="sm" c="dimmed">
          {!isFound && texts.last} <When at={evidence.at} />
        </Text>
      )}
      {evidence && children}
      {isOver && (
        <Button variant="default" size="compact-sm" onClick={wait.goOn}>
          {texts.goOn}
        </Button>
      )}
    </section>
  );
}
