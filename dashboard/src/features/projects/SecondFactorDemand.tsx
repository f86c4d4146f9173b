/** Whether a project demands a second factor of its members. Only someone who has one can demand it. */

import { Stack, Switch, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { securityQuery, useDemandSecondFactor } from "./projectSecurityCalls";
import { twoFactorQuery } from "../identity/twoFactorCalls";
import { notifyDone, notifyRefused } from "../../api/notify";
import { useDialog } from "../../ui/useDialog";
import { useGuard } from "../../ui/useGuard";
import { enrolmentTexts } from "../../ui/enrolmentTexts";
import { demand as texts } from "./demandTexts";
import { ConfirmDialog } from "../../ui/ConfirmDialog";
import { AnchorLink } from "../../ui/links";
import { RowsSkeleton } from "../../ui/PageSkeleton";
import { LoadFailed } from "../../ui/ProblemPage";

export function SecondFactorDemand({ projectId }: { projectId: string }) {
  const { data: security, error, refetch } = useQuery(securityQuery(projectId));
  if (security) return <DemandSwitch projectId={projectId} isDemanded={security.demands_second_factor} />;
  return error ? <LoadFailed error={error} onRetry={refetch} /> : <RowsSkeleton rows={1} height={24} />;
}

function DemandSwitch({ projectId, isDemanded }: { projectId: string; isDemanded: boolean }) {
  const { reason: forbidden, attributes } = useGuard({ needs: "project:write" });
  const { data: twoFactor } = useQuery(twoFactorQuery);
  const { mutateAsync: demand } = useDemandSecondFactor(projectId);
  const confirmation = useDialog();
  const reasonId = useId();
  const lacksFactor = twoFactor?.meets_demand === false;
  const begin = async () => {
    await demand(true);
    confirmation.props.onClose();
    notifyDone(texts.begun);
  };
  const end = () =>
    demand(false).then(
      () => notifyDone(texts.ended),
      (error: unknown) => notifyRefused(texts.failed, error),
    );
  return (
    <Stack gap="xs">
      <Switch
        label={texts.label}
        checked={isDemanded}
        {...attributes}
        disabled={twoFactor === undefined || forbidden !== null || lacksFactor}
        aria-describedby={reasonId}
        onChange={isDemanded ? () => void end() : confirmation.open}
      />
      <Text id={reasonId} size="sm" c="dimmed">
        {forbidden ?? (lacksFactor ? texts.lacking : texts.effect)}
      </Text>
      {lacksFactor && forbidden === null && (
        <AnchorLink to="/account" search={{ next: `/projects/${projectId}/settings` }} size="sm">
          {enrolmentTexts.setUp}
        </AnchorLink>
      )}
      <ConfirmDialog
        title={texts.confirmHeading}
        consequence={texts.confirmText}
        action={texts.confirm}
        onConfirm={begin}
        {...confirmation.props}
      />
    </Stack>
  );
}
