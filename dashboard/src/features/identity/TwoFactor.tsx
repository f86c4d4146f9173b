/** The second factors of the account: the authenticator app, the recovery codes and the passkeys. */

import { Alert, Button, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazy, type ReactNode } from "react";
import { hasSecondFactor, type TwoFactor as State, twoFactorQuery, useRenewCodes } from "./twoFactorCalls";
import { currentSession } from "../../api/session";
import { useDialog } from "../../ui/useDialog";
import { twoFactor as texts } from "./twoFactorTexts";
import { CurrentPasswordForm } from "./CurrentPasswordForm";
import { FactorDialog, type OnChanged } from "./FactorDialog";
import { Given } from "../../ui/Given";
import { IconAlert } from "../../ui/icons";
import classes from "../../ui/ListRows.module.css";
import { RowsSkeleton } from "../../ui/PageSkeleton";
import { PasskeyList } from "./PasskeyList";
import { LoadFailed } from "../../ui/ProblemPage";
import { When } from "../../ui/When";

const EnrolApp = lazy(() => import("./EnrolApp"));
const DisableApp = lazy(() => import("./DisableApp"));

const FEW_CODES = 3;

export function TwoFactor() {
  const { data: state, error, refetch } = useQuery(twoFactorQuery);
  const provider = currentSession()?.provider;
  return (
    <Stack gap="md" mt="xl" component="section" aria-label={texts.heading} id="two-factor">
      <Stack gap={4}>
        <Title order={2}>{texts.heading}</Title>
        <Text c="dimmed">{texts.intro}</Text>
        {provider && <Text c="dimmed">{texts.providerNote(provider)}</Text>}
      </Stack>
      {error && !state && <LoadFailed error={error} onRetry={refetch} />}
      {!state && !error && <RowsSkeleton rows={2} height={56} />}
      {state && <Factors state={state} />}
    </Stack>
  );
}

function Factors({ state }: { state: State }) {
  const hasFactor = hasSecondFactor(state);
  return (
    <>
      {hasFactor && state.recovery_codes_left <= FEW_CODES && (
        <Alert color="alarm" variant="light" icon={<IconAlert />} py="xs">
          {texts.codesFew}
        </Alert>
      )}
      <ul className={classes.list} aria-label={texts.heading}>
        <AppRow since={state.totp_since} isLast={state.passkeys.length === 0} />
        {hasFactor && <CodesRow left={state.recovery_codes_left} />}
      </ul>
      <PasskeyList passkeys={state.passkeys} isOnlyFactor={state.totp_since === null} />
    </>
  );
}

interface RowProps {
  readonly name: string;
  readonly detail: ReactNode;
  readonly children: ReactNode;
}

function Row({ name, detail, children }: RowProps) {
  return (
    <li className={classes.row}>
      <div className={classes.label}>
        <span className={classes.name}>
          <Given text={name} />
        </span>
        <span className={classes.details}>{detail}</span>
      </div>
      {children}
    </li>
  );
}

function AppRow({ since, isLast }: { since: string | null; isLast: boolean }) {
  const [enrolment, disabling] = [useDialog(), useDialog()];
  const isOn = since !== null;
  const detail = isOn ? (
    <>
      {texts.appSince} <When at={since} />
    </>
  ) : (
    texts.appOff
  );
  // One button for both, so that it still has the focus when it changes.
  return (
    <Row name={texts.app} detail={detail}>
      <Button
        {...BUTTON}
        aria-label={isOn ? texts.disableApp : texts.setUpApp}
        onClick={isOn ? disabling.open : enrolment.open}
      >
        {isOn ? texts.disable : texts.setUp}
      </Button>
      <FactorDialog title={texts.setUpApp} {...enrolment.props}>
        {(onChanged) => <EnrolApp onChanged={onChanged} onClose={enrolment.props.onClose} />}
      </FactorDialog>
      <FactorDialog title={texts.disableApp} {...disabling.props}>
        {() => <DisableApp isLast={isLast} onClose={disabling.props.onClose} />}
      </FactorDialog>
    </Row>
  );
}

function CodesRow({ left }: { left: number }) {
  const renewal = useDialog();
  const { mutateAsync: renew } = useRenewCodes();
  return (
    <Row name={texts.codes} detail={texts.codesLeft(left)}>
      <Button {...BUTTON} aria-label={texts.renewCodes} onClick={renewal.open}>
        {texts.renew}
      </Button>
      <FactorDialog title={texts.renewCodes} {...renewal.props}>
        {(onChanged: OnChanged) => (
          <CurrentPasswordForm
            text={texts.renewText}
            action={texts.renewCodes}
            onSubmit={async (confirmed) => onChanged(await renew(confirmed))}
            onClose={renewal.props.onClose}
          />
        )}
      </FactorDialog>
    </Row>
  );
}

const BUTTON = { variant: "default", size: "compact-sm" } as const;
