import { Alert, Stack, Text } from "@mantine/core";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { SignInSteps } from "./SignInSteps";
import { AnchorLink } from "../../ui/links";
import { isRegistrationOpen } from "./registration";
import { nextHref, safeNext } from "../../ui/search";
import { accountsTexts } from "./accountsTexts";

const route = getRouteApi("/account/sign-in");

export function SignInPage() {
  const { next, expired, elsewhere } = route.useSearch();
  const navigate = useNavigate();
  return (
    <SignInSteps
      returnTo={safeNext(next)}
      onDone={() => navigate({ href: nextHref(next), replace: true })}
      before={
        (expired ?? elsewhere) && (
          <Alert color="signal" variant="light" py="xs">
            {elsewhere ? accountsTexts.endedElsewhere : accountsTexts.expired}
          </Alert>
        )
      }
      after={<Others next={next} />}
    />
  );
}

function Others({ next }: { next: string | undefined }) {
  return (
    <Stack gap="xs" align="center">
      <AnchorLink to="/forgot-password" size="sm">
        {accountsTexts.forgot}
      </AnchorLink>
      {isRegistrationOpen() ? (
        <Text size="sm">
          {accountsTexts.noAccount}{" "}
          <AnchorLink to="/register" search={next ? { next } : {}} size="sm" underline="always">
            {accountsTexts.register}
          </AnchorLink>
        </Text>
      ) : (
        <Text size="sm" c="dimmed" ta="center">
          {accountsTexts.registrationClosed}
        </Text>
      )}
    </Stack>
  );
}
