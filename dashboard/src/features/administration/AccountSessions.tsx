/** The open sessions of an account, which an administrator can end. */

import { Stack, Text, Title } from "@mantine/core";
import { useRef } from "react";
import { type AccountDetails, useEndAccountSession } from "./administrationCalls";
import { administration } from "./administrationTexts";
import { sessions } from "../identity/sessionsTexts";
import { AnchorLink } from "../../ui/links";
import classes from "../../ui/ListRows.module.css";
import { SessionRow } from "../identity/SessionList";

interface Props {
  readonly account: AccountDetails;
  readonly isSelf: boolean;
}

export function AccountSessions({ account, isSelf }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { mutateAsync: end } = useEndAccountSession(account.id);
  return (
    <Stack gap="sm">
      <Title order={2} ref={heading} tabIndex={-1}>
        {sessions.heading}
      </Title>
      {isSelf && (
        <Text c="dimmed">
          {administration.ownSessions} <AnchorLink to="/account">{administration.ownAccountPage}</AnchorLink>
        </Text>
      )}
      {!isSelf && account.sessions.length === 0 && <Text c="dimmed">{administration.noSessions}</Text>}
      {!isSelf && account.sessions.length > 0 && (
        <ul className={classes.list} aria-label={sessions.heading}>
          {account.sessions.map((each) => (
            <SessionRow key={each.id} session={each} onEnd={end} onEnded={() => heading.current?.focus()} />
          ))}
        </ul>
      )}
    </Stack>
  );
}
