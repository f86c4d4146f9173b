/** Which mails the account gets about each of its projects. */

import { Checkbox, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  type NotificationKind,
  type Notifications,
  notificationsQuery,
  useChooseNotification,
} from "./notificationsCalls";
import { notifyRefused } from "../../api/notify";
import { notifications as texts } from "./notificationsTexts";
import { UnverifiedAddress } from "../identity/UnverifiedAddress";
import { Given } from "../../ui/Given";
import classes from "../../ui/ListRows.module.css";
import { RowsSkeleton } from "../../ui/PageSkeleton";
import { LoadFailed } from "../../ui/ProblemPage";

const KINDS: readonly NotificationKind[] = [
  "critical",
  "owned",
  "stale",
  "webhooks",
  "releases",
  "mentions",
  "subscribed",
];

export function NotificationSettings() {
  const { data, error, refetch } = useQuery(notificationsQuery);
  return (
    <Stack gap="md" mt="xl">
      <Title order={2}>{texts.heading}</Title>
      <Text c="dimmed">{texts.intro}</Text>
      <UnverifiedAddress />
      <ul>
        {KINDS.map((kind) => (
          <li key={kind}>
            <b>{texts.kinds[kind]}</b>: {texts.meanings[kind]}
          </li>
        ))}
      </ul>
      {error && !data && <LoadFailed error={error} onRetry={refetch} />}
      {!data && !error && <RowsSkeleton rows={2} height={56} />}
      {data?.length === 0 && <Text c="dimmed">{texts.none}</Text>}
      {data && data.length > 0 && (
        <ul className={classes.list} aria-label={texts.heading}>
          {data.map((each) => (
            <ProjectRow key={each.project_id} settings={each} />
          ))}
        </ul>
      )}
    </Stack>
  );
}

function ProjectRow({ settings }: { settings: Notifications }) {
  const { mutateAsync: choose } = useChooseNotification();
  // Set at the press: otherwise React puts the box back until the mutation is known to have begun.
  const [pressed, setPressed] = useState<{ kind: NotificationKind; wanted: boolean } | null>(null);
  const press = async (kind: NotificationKind, wanted: boolean) => {
    setPressed({ kind, wanted });
    try {
      await choose({ projectId: settings.project_id, kind, wanted });
    } catch (refusal) {
      notifyRefused(texts.choose, refusal);
    } finally {
      setPressed(null);
    }
  };
  return (
    <li className={classes.row}>
      <div className={classes.label}>
        <span className={classes.name}>
          <Given text={settings.project} />
        </span>
      </div>
      {KINDS.map((kind) => (
        <Checkbox
          key={kind}
          label={texts.kinds[kind]}
          aria-label={texts.choice(texts.kinds[kind], settings.project)}
          checked={pressed?.kind === kind ? pressed.wanted : settings[kind]}
          onChange={({ currentTarget: { checked: wanted } }) => void press(kind, wanted)}
        />
      ))}
    </li>
  );
}
