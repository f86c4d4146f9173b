/** The settings of the instance that administrators change while it runs. */

import { Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { instanceSettingsQuery, type InstanceSettings as Settings } from "./administrationCalls";
import { twoFactorQuery } from "../identity/twoFactorCalls";
import { Page } from "../../ui/Page";
import { RowsSkeleton } from "../../ui/PageSkeleton";
import { LoadFailed } from "../../ui/ProblemPage";
import { SettingForm } from "./SettingForm";
import { adminPagesTexts } from "../../ui/adminPagesTexts";
import { administration } from "./administrationTexts";

export function InstanceSettingsPage() {
  const { data: settings, error, refetch } = useQuery(instanceSettingsQuery);
  return (
    <Page title={adminPagesTexts.settings} intro={administration.settingsIntro}>
      {error && !settings && <LoadFailed error={error} onRetry={refetch} />}
      {!settings && !error && <RowsSkeleton rows={2} height={64} />}
      {settings && (
        <Stack gap="xl" mt="lg" maw={620}>
          <Registration settings={settings} />
          <SecondFactor settings={settings} />
        </Stack>
      )}
    </Page>
  );
}

function Registration({ settings }: { settings: Settings }) {
  return (
    <SettingForm
      setting={{
        field: "registration",
        variable: "FLAGSTAFF_REGISTRATION",
        value: settings.registration,
        isDefault: settings.is_default,
        title: administration.registration,
        text: administration.registrationText,
        choices: administration.registrationChoices,
        send: (registration) => ({ registration }),
      }}
    />
  );
}

function SecondFactor({ settings }: { settings: Settings }) {
  const { data: twoFactor } = useQuery(twoFactorQuery);
  const hasNone = twoFactor?.meets_demand === false;
  return (
    <SettingForm
      setting={{
        field: "demands_second_factor",
        variable: "FLAGSTAFF_DEMAND_SECOND_FACTOR",
        value: settings.demands_second_factor ? "on" : "off",
        isDefault: settings.demands_second_factor_is_default,
        title: administration.secondFactor,
        text: hasNone ? administration.secondFactorMissing : administration.secondFactorText,
        ...(hasNone && { unavailable: "on" }),
        choices: administration.secondFactorChoices,
        send: (value) => ({ demands_second_factor: value === null ? null : value === "on" }),
      }}
    />
  );
}
