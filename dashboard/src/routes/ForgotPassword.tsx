import { Alert, Button, Stack, Text, TextInput, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDocumentTitle } from "@mantine/hooks";
import { IconMail } from "../components/icons";
import { useForgotPassword } from "../api/accounts";
import { AnchorLink } from "../components/links";
import { Refusal } from "../components/Refusal";
import { useRefusal } from "../lib/useRefusal";
import { t } from "../texts";

export function ForgotPassword() {
  useDocumentTitle(`${t.accounts.forgotHeading} · ${t.product}`);
  const form = useForm({ initialValues: { email: "" } });
  const refusal = useRefusal(form);
  const request = useForgotPassword();
  const submit = form.onSubmit((values) =>
    request.mutate(values, { onError: refusal.show, onSuccess: () => refusal.clear() }),
  );
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <Title order={1} fz="lg">
          {t.accounts.forgotHeading}
        </Title>
        <Text c="dimmed">{t.accounts.forgotIntro}</Text>
        <TextInput
          label={t.accounts.email}
          type="email"
          autoComplete="username"
          autoFocus
          {...form.getInputProps("email")}
        />
        <Refusal text={refusal.refusal} />
        {request.isSuccess && (
          <Alert role="status" color="live" variant="light" icon={<IconMail />} title={t.accounts.linkSent} py="xs">
            {request.data.message}
          </Alert>
        )}
        <Button type="submit" fullWidth loading={request.isPending}>
          {t.accounts.sendLink}
        </Button>
        <AnchorLink to="/sign-in" size="sm" ta="center">
          {t.accounts.backToSignIn}
        </AnchorLink>
      </Stack>
    </form>
  );
}
