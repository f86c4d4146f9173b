import { Button, PasswordInput, Stack, Text, TextInput, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDocumentTitle } from "@mantine/hooks";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useRegister } from "../api/accounts";
import { AnchorLink } from "../components/links";
import { Refusal } from "../components/Refusal";
import { safeNext } from "../lib/search";
import { useRefusal } from "../lib/useRefusal";
import { t } from "../texts";

const route = getRouteApi("/account/register");

export function Register() {
  useDocumentTitle(`${t.accounts.register} · ${t.product}`);
  const { next } = route.useSearch();
  const navigate = useNavigate();
  const form = useForm({ initialValues: { email: "", password: "" } });
  const refusal = useRefusal(form);
  const register = useRegister();
  const submit = form.onSubmit((values) =>
    register.mutate(values, {
      onError: refusal.show,
      onSuccess: () => navigate({ href: safeNext(next), replace: true }),
    }),
  );
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <Title order={1} fz="lg">
          {t.accounts.registerHeading}
        </Title>
        <TextInput
          label={t.accounts.email}
          type="email"
          autoComplete="username"
          autoFocus
          {...form.getInputProps("email")}
        />
        <PasswordInput
          label={t.accounts.password}
          description={t.accounts.passwordHint}
          autoComplete="new-password"
          aria-invalid={form.errors.password !== undefined}
          {...form.getInputProps("password")}
        />
        <Refusal text={refusal.refusal} />
        <Button type="submit" fullWidth loading={register.isPending}>
          {t.accounts.register}
        </Button>
        <Text size="sm" ta="center">
          {t.accounts.haveAccount}{" "}
          <AnchorLink to="/sign-in" search={next ? { next } : {}} size="sm" underline="always">
            {t.accounts.signIn}
          </AnchorLink>
        </Text>
      </Stack>
    </form>
  );
}
