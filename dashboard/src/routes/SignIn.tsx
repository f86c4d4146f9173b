import { Alert, Button, Group, PasswordInput, Stack, Text, TextInput, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDocumentTitle } from "@mantine/hooks";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useSignIn } from "../api/accounts";
import { AnchorLink } from "../components/links";
import { Refusal } from "../components/Refusal";
import { safeNext } from "../lib/search";
import { useRefusal } from "../lib/useRefusal";
import { t } from "../texts";

const route = getRouteApi("/account/sign-in");

export function SignIn() {
  useDocumentTitle(`${t.accounts.signIn} · ${t.product}`);
  const { next, expired } = route.useSearch();
  const navigate = useNavigate();
  const form = useForm({ initialValues: { email: "", password: "" } });
  const refusal = useRefusal(form);
  const signIn = useSignIn();
  const submit = form.onSubmit((values) =>
    signIn.mutate(values, {
      onError: refusal.show,
      onSuccess: () => navigate({ href: safeNext(next), replace: true }),
    }),
  );
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <Title order={1} fz="lg">
          {t.accounts.signInHeading}
        </Title>
        {expired && (
          <Alert color="signal" variant="light" py="xs">
            {t.accounts.expired}
          </Alert>
        )}
        <TextInput
          label={t.accounts.email}
          type="email"
          autoComplete="username"
          autoFocus
          {...form.getInputProps("email")}
        />
        <PasswordInput
          label={t.accounts.password}
          autoComplete="current-password"
          aria-invalid={form.errors.password !== undefined}
          {...form.getInputProps("password")}
        />
        <Refusal text={refusal.refusal} />
        <Button type="submit" fullWidth loading={signIn.isPending}>
          {t.accounts.signIn}
        </Button>
        <Group justify="space-between" gap="xs">
          <AnchorLink to="/forgot-password" size="sm">
            {t.accounts.forgot}
          </AnchorLink>
          <Text size="sm">
            {t.accounts.noAccount}{" "}
            <AnchorLink to="/register" search={next ? { next } : {}} size="sm" underline="always">
              {t.accounts.register}
            </AnchorLink>
          </Text>
        </Group>
      </Stack>
    </form>
  );
}
