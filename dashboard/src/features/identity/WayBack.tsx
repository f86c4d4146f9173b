/**
 * For people who were sent to their account by a page that requires a second factor: what to do, and then a link back.
 */

import { Alert, Button, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { twoFactorQuery } from "./twoFactorCalls";
import { nextHref } from "../../ui/search";
import { twoFactor as texts } from "./twoFactorTexts";

export function WayBack({ next }: { next: string }) {
  const { data: state } = useQuery(twoFactorQuery);
  const navigate = useNavigate();
  if (!state) return null;
  const isMet = state.meets_demand;
  return (
    <Alert role="status" color={isMet ? "live" : "signal"} variant="light" py="xs" mb="lg">
      <Group gap="xs" justify="space-between">
        <Text size="sm">{isMet ? texts.metNote : texts.demandedNote}</Text>
        {isMet && (
          <Button size="xs" onClick={() => void navigate({ href: nextHref(next) })}>
            {texts.goBack}
          </Button>
        )}
      </Group>
    </Alert>
  );
}
