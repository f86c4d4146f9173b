/** Says that the account gets no emails until its address is verified, and sends the link for it. */

import { Alert, Button, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { ownAccountQuery, useRequestVerification } from "./ownAccountCalls";
import { notifyRefused } from "../../api/notify";
import { emailVerification as texts } from "./emailVerificationTexts";

export function UnverifiedAddress() {
  const { data: own } = useQuery(ownAccountQuery);
  const { mutate: send, isPending, isSuccess } = useRequestVerification();
  if (own === undefined || own.email_verified) return null;
  return (
    <Alert role="status" color="signal" variant="light" py="xs">
      <Group justify="space-between">
        <Text size="sm" className="break">
          {isSuccess ? texts.sent(own.email) : texts.unverified}
        </Text>
        {!isSuccess && (
          <Button
            size="compact-sm"
            variant="default"
            loading={isPending}
            onClick={() => send(undefined, { onError: (error) => notifyRefused(texts.notSent, error) })}
          >
            {texts.send}
          </Button>
        )}
      </Group>
    </Alert>
  );
}
