/** The actions on an open release. Turning the flag off needs no confirmation. */

import { Group } from "@mantine/core";
import { type Release, type ReleaseAct, useActOnRelease } from "./releasesCalls";
import { useSwitchFlag } from "../flags/switchingCalls";
import type { FlagPlace } from "../../api/flagPlace";
import { notifyDone, notifyRefused } from "../../api/notify";
import { nameOf } from "./releases";
import { useDialog } from "../../ui/useDialog";
import { flagsTexts } from "../flags/flagsTexts";
import { releases as texts } from "./releasesTexts";
import { GuardedButton } from "../../ui/GuardedButton";
import { ConfirmDialog } from "../../ui/ConfirmDialog";

const NEEDS = "flags:write";

type Props = Pick<FlagPlace, "path" | "flag"> & { readonly release: Release };

export function ReleaseButtons({ path, flag, release }: Props) {
  const cancelling = useDialog();
  const { mutate: turn } = useSwitchFlag(path, ({ enabled }, error) =>
    notifyRefused(flagsTexts.notSwitched(flag.name, enabled), error),
  );
  const { mutateAsync, isPending } = useActOnRelease(path, release.id);
  const act = (wanted: ReleaseAct) => {
    mutateAsync(wanted).catch((error: unknown) => notifyRefused(texts.notDone[wanted], error));
  };
  const next = release.state === "paused" ? "resume" : "pause";
  return (
    <Group gap="xs">
      <GuardedButton needs={NEEDS} variant="default" loading={isPending} onClick={() => act(next)}>
        {texts[next]}
      </GuardedButton>
      {flag.enabled && (
        <GuardedButton
          needs={NEEDS}
          color="alarm.7"
          label={texts.turnFlagOffLabel(flag.name)}
          onClick={() => turn({ flag, enabled: false })}
        >
          {texts.turnFlagOff}
        </GuardedButton>
      )}
      <GuardedButton needs={NEEDS} variant="default" onClick={cancelling.open}>
        {texts.cancelRelease}
      </GuardedButton>
      <ConfirmDialog
        title={texts.cancelHeading(nameOf(release))}
        consequence={texts.cancelText}
        action={texts.cancelRelease}
        dismissal={texts.keepRelease}
        onConfirm={async () => {
          await mutateAsync("cancel");
          notifyDone(texts.cancelled);
          cancelling.props.onClose();
        }}
        {...cancelling.props}
      />
    </Group>
  );
}
