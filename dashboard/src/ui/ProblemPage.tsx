/** Shown instead of a page that cannot be shown. */

import { Alert, Button, Container, Group, Stack, Text, Title, VisuallyHidden } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { IconAlert, IconLock } from "./icons";
import { type ErrorComponentProps, useLocation, useRouter } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import { onReturn, useOutage } from "../api/outage";
import { isProblem, lineOf, Problem } from "../api/problem";
import { isMissingCode, MissingCode, reload } from "./missingCode";
import { DEMANDED } from "../api/secondFactorDemand";
import { problemsTexts } from "../api/problemsTexts";
import { adminPagesTexts } from "./adminPagesTexts";
import { common } from "./commonTexts";
import { enrolmentTexts } from "./enrolmentTexts";
import { ButtonLink } from "./links";

const AGAIN_MILLISECONDS = 3_000;

export function ProblemPage({ error, reset }: ErrorComponentProps) {
  if (error instanceof Problem && error.status === 404) return <NotFound />;
  return <NotShown error={error} reset={reset} />;
}

function NotShown({ error, reset }: ErrorComponentProps) {
  useDocumentTitle(`${problemsTexts.notShown} · ${common.product}`);
  const router = useRouter();
  const isMissing = isMissingCode(error);
  const again = () => {
    if (isMissing) return void reload();
    reset();
    void router.invalidate();
  };
  useEffect(() => onReturn(again));
  // Requests can fail although the server is reachable. Then there is no end of an outage that would reload the page.
  const isCutOff = useOutage() === null && error instanceof Problem && error.status === 0;
  useEffect(() => {
    if (!isCutOff) return;
    const timer = setTimeout(again, AGAIN_MILLISECONDS);
    return () => clearTimeout(timer);
  });
  return (
    <Container size={640} py={64}>
      <VisuallyHidden component="h1">{problemsTexts.notShown}</VisuallyHidden>
      <LoadFailed error={isMissing ? new MissingCode() : error} onRetry={again} />
    </Container>
  );
}

export function LoadFailed({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  if (isProblem(error, DEMANDED)) return <SecondFactorDemanded />;
  if (isProblem(error, "forbidden")) return <Locked title={problemsTexts.forbidden}>{error.message}</Locked>;
  const requestId = error instanceof Problem ? error.requestId : null;
  return (
    <Alert color="alarm" variant="light" icon={<IconAlert />} title={problemsTexts.heading}>
      <Stack gap="sm" align="start">
        <Text size="sm">{lineOf(error)}</Text>
        {requestId && (
          <Text size="xs" c="dimmed" className="mono">
            {problemsTexts.requestId(requestId)}
          </Text>
        )}
        <Button variant="default" size="xs" onClick={onRetry}>
          {common.retry}
        </Button>
      </Stack>
    </Alert>
  );
}

function SecondFactorDemanded() {
  const here = useLocation({ select: ({ href }) => href });
  return (
    <Locked title={enrolmentTexts.demanded}>
      <Stack gap="sm" align="start">
        <Text size="sm">{enrolmentTexts.demandedText}</Text>
        <ButtonLink to="/account" search={{ next: here }} size="xs">
          {enrolmentTexts.setUp}
        </ButtonLink>
      </Stack>
    </Locked>
  );
}

/** Shown if the account may not see the page, with what to do. Trying again does not help. */
export function Locked({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Alert color="signal" variant="light" icon={<IconLock />} title={title}>
      {children}
    </Alert>
  );
}

/** The not-found page, without the frame of the other pages. */
export function NotFoundAnywhere() {
  return (
    <main>
      <NotFound />
    </main>
  );
}

export function NotFound() {
  return <DeadEnd title={problemsTexts.notFound} text={problemsTexts.notFoundDetail} />;
}

/** Shown to everyone but administrators. */
export function Forbidden() {
  return <DeadEnd title={adminPagesTexts.forbidden} text={adminPagesTexts.forbiddenDetail} />;
}

function DeadEnd({ title, text }: { title: string; text: string }) {
  useDocumentTitle(`${title} · ${common.product}`);
  return (
    <Container size={520} py={96} ta="center">
      <Title order={1}>{title}</Title>
      <Text c="dimmed" mt="xs">
        {text}
      </Text>
      <Group justify="center" mt="lg">
        <ButtonLink to="/">{problemsTexts.home}</ButtonLink>
      </Group>
    </Container>
  );
}
