/** The passkeys of the account, with their names and uses. */

import { Button, Group, Stack, Text, Title } from "@mantine/core";
import { lazy, useRef } from "react";
import { type Passkey, useRemovePasskey } from "./twoFactorCalls";
import { notifyDone } from "../../api/notify";
import { reasonAgainstPasskeys } from "./passkeys";
import { useDialog } from "../../ui/useDialog";
import { twoFactor as texts } from "./twoFactorTexts";
import { CurrentPasswordForm } from "./CurrentPasswordForm";
import { FactorDialog } from "./FactorDialog";
import { GuardedButton } from "../../ui/GuardedButton";
import { IconPlus } from "../../ui/icons";
import classes from "../../ui/ListRows.module.css";
import { When } from "../../ui/When";

const AddPasskey = lazy(() => import("./AddPasskey"));

interface Props {
  readonly passkeys: readonly Passkey[];
  /** Whether passkeys are the only second factors. */
  readonly isOnlyFactor: boolean;
}

export function PasskeyList({ passkeys, isOnlyFactor }: Props) {
  const addition = useDialog();
  const heading = useRef<HTMLHeadingElement>(null);
  const reason = reasonAgainstPasskeys();
  const isLast = isOnlyFactor && passkeys.length === 1;
  return (
    <Stack gap="xs">
      <Group justify="space-between" wrap="nowrap">
        <Title order={3} fz="md" ref={heading} tabIndex={-1}>
          {texts.passkeys}
        </Title>
        <GuardedButton
          variant="default"
          size="compact-sm"
          leftSection={<IconPlus size={14} />}
          refusal={reason}
          onClick={addition.open}
        >
          {texts.addPasskey}
        </GuardedButton>
      </Group>
      {reason && <Text size="sm">{reason}</Text>}
      {passkeys.length === 0 && (
        <Text c="dimmed" size="sm">
          {texts.passkeysNone}
        </Text>
      )}
      {passkeys.length > 0 && (
        <ul className={classes.list} aria-label={texts.passkeys}>
          {passkeys.map((each) => (
            <PasskeyRow key={each.id} passkey={each} isLast={isLast} onRemoved={() => heading.current?.focus()} />
          ))}
        </ul>
      )}
      <FactorDialog title={texts.addPasskeyHeading} {...addition.props}>
        {(onChanged) => <AddPasskey onChanged={onChanged} onClose={addition.props.onClose} />}
      </FactorDialog>
    </Stack>
  );
}

interface RowProps {
  readonly passkey: Passkey;
  readonly isLast: boolean;
  readonly onRemoved: () => void;
}

function PasskeyRow({ passkey, isLast, onRemoved }: RowProps) {
  const { id, name, created_at: createdAt, last_used_at: lastUsedAt } = passkey;
  const removal = useDialog();
  const { mutateAsync } = useRemovePasskey(id);
  const remove = async (confirmed: { current_password: string }) => {
    await mutateAsync(confirmed);
    onRemoved();
    notifyDone(texts.removed(name));
  };
  return (
    <li className={classes.row}>
      <div className={classes.label}>
        <span className={classes.name}>{name}</span>
        <span className={classes.details}>
          {texts.created} <When at={createdAt} /> ·{" "}
          {lastUsedAt ? (
            <>
              {texts.lastUsed} <When at={lastUsedAt} />
            </>
          ) : (
            texts.neverUsed
          )}
        </span>
      </div>
      <Button variant="default" size="compact-sm" aria-label={texts.removeOf(name)} onClick={removal.open}>
        {texts.remove}
      </Button>
      <FactorDialog title={texts.removeHeading(name)} {...removal.props}>
        {() => (
          <CurrentPasswordForm
            text={isLast ? `${texts.removeText} ${texts.lastFactor}` : texts.removeText}
            action={texts.removeDo}
            onSubmit={remove}
            onClose={removal.props.onClose}
          />
        )}
      </FactorDialog>
    </li>
  );
}
