/** Where the account is signed in. Each session but this one can be ended here; this one ends by signing out. */

import { Button, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useRef } from "react";
import { sessionsQuery, type SignIn, useEndOtherSessions, useEndSession } from "./sessionsCalls";
import { deviceName } from "./deviceName";
import { useDialog } from "../../ui/useDialog";
import { sessions as texts } from "./sessionsTexts";
import { ConfirmDialog } from "../../ui/ConfirmDialog";
import classes from "../../ui/ListRows.module.css";
import { RowsSkeleton } from "../../ui/PageSkeleton";
import { LoadFailed } from "../../ui/ProblemPage";
import { When } from "../../ui/When";

export function SessionList() {
  const { data: sessions, error, refetch } = useQuery(sessionsQuery);
  const heading = useRef<HTMLHeadingElement>(null);
  const { mutateAsync: end } = useEndSession();
  const { mutateAsync: endOthers } = useEndOtherSessions();
  const ending = useDialog();
  const confirm = async () => {
    await endOthers();
    ending.props.onClose();
    heading.current?.focus();
  };
  return (
    <Stack gap="md" mt="xl">
      <Title order={2} ref={heading} tabIndex={-1}>
        {texts.heading}
      </Title>
      {error && !sessions && <LoadFailed error={error} onRetry={refetch} />}
      {!sessions && !error && <RowsSkeleton rows={2} height={56} />}
      {sessions && (
        <ul className={classes.list} aria-label={texts.heading}>
          {sessions.map((each) => (
            <SessionRow
              key={each.id}
              session={each}
              current={each.current}
              onEnd={end}
              onEnded={() => heading.current?.focus()}
            />
          ))}
        </ul>
      )}
      {sessions && sessions.length > 1 && (
        <Button variant="default" style={{ alignSelf: "flex-start" }} onClick={ending.open}>
          {texts.endOthers}
        </Button>
      )}
      <ConfirmDialog
        title={texts.endOthersHeading}
        consequence={texts.endOthersText}
        action={texts.endOthers}
        onConfirm={confirm}
        {...ending.props}
      />
    </Stack>
  );
}

interface RowProps {
  readonly session: Omit<SignIn, "current">;
  readonly current?: boolean;
  readonly onEnd: (id: string) => Promise<unknown>;
  readonly onEnded: () => void;
}

export function SessionRow({ session, current = false, onEnd, onEnded }: RowProps) {
  const { id, address, last_seen_at: lastSeen } = session;
  const given = session.device ?? texts.unknownDevice;
  const device = deviceName(given) || given;
  const ending = useDialog();
  const end = async () => {
    await onEnd(id);
    onEnded();
  };
  return (
    <li className={classes.row}>
      <div className={classes.label}>
        <span className={classes.name} title={given}>
          {device}
        </span>
        <span className={classes.details}>
          {address ?? texts.unknownAddress} · {texts.lastSeen} <When at={lastSeen} />
        </span>
      </div>
      {current ? (
        <Text c="dimmed" size="sm">
          {texts.current}
        </Text>
      ) : (
        <Button variant="default" size="compact-sm" aria-label={texts.endOf(device)} onClick={ending.open}>
          {texts.end}
        </Button>
      )}
      <ConfirmDialog
        title={texts.endHeading}
        consequence={texts.endText(device)}
        action={texts.end}
        onConfirm={end}
        {...ending.props}
      />
    </li>
  );
}
