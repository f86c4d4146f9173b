/** Shown instead of a page that cannot be shown. */

import { Alert, Button, Container, Group, Stack, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { IconAlert, IconLock } from "./icons";
import { type ErrorComponentProps, useRouter } from "@tanstack/react-router";
import { isProblem, lineOf, Problem } from "../api/problem";
import { t } from "../texts";
import { ButtonLink } from "./links";

export function ProblemPage({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  if (error instanceof Problem && error.status === 404) return <NotFound />;
  const again = () => {
    reset();
    void router.invalidate();
  };
  return (
    <Container size={640} py={64}>
      <LoadFailed error={error} onRetry={again} />
    </Container>
  );
}

export function LoadFailed({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  if (isProblem(error, "mfa_enrolment_required"))
    return <Locked title={t.secondFactor.demanded} text={error.message} />;
  if (isProblem(error, "forbidden")) return <Locked title={t.problems.forbidden} text={error.message} />;
  const requestId = error instanceof Problem ? error.requestId : null;
  return (
    <Alert color="alarm" variant="light" icon={<IconAlert />} title={t.problems.heading}>
      <Stack gap="sm" align="start">
        <Text size="sm">{lineOf(error)}</Text>
        {requestId && (
          <Text size="xs" c="dimmed" className="mono">
            {t.problems.requestId(requestId)}
          </Text>
        )}
        <Button variant="default" size="xs" onClick={onRetry}>
          {t.retry}
        </Button>
      </Stack>
    </Alert>
  );
}

/** What the account may not see, and what it can do about it. Trying again does not help. */
export function Locked({ title, text }: { title: string; text: string }) {
  return (
    <Alert color="signal" variant="light" icon={<IconLock />} title={title}>
      {text}
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
  return <DeadEnd title={t.problems.notFound} text={t.problems.notFoundDetail} />;
}

/** Shown to everyone but administrators. */
export function Forbidden() {
  return <DeadEnd title={t.administration.forbidden} text={t.administration.forbiddenDetail} />;
}

function DeadEnd({ title, text }: { title: string; text: string }) {
  useDocumentTitle(`${title} · ${t.product}`);
  return (
    <Container size={520} py={96} ta="center">
      <Title order={1}>{title}</Title>
      <Text c="dimmed" mt="xs">
        {text}
      </Text>
      <Group justify="center" mt="lg">
        <ButtonLink to="/">{t.problems.home}</ButtonLink>
      </Group>
    </Container>
  );
}
