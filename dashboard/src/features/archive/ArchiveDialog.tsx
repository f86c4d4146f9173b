/** Asks before a flag is archived, and says how often it was evaluated lately. */

import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { Flag, FlagPath } from "../../api/client";
import { useArchiveFlag } from "./archiveCalls";
import { summaryQuery } from "../history/historyCalls";
import { countsOf } from "./counts";
import type { DialogProps } from "../../ui/useDialog";
import { archive as texts } from "./archiveTexts";
import { ConfirmDialog } from "../../ui/ConfirmDialog";

interface Props extends DialogProps {
  readonly path: FlagPath;
  readonly flag: Pick<Flag, "key" | "name">;
  /** Called after the flag was archived; by default, the list of flags is shown. */
  readonly onArchived?: () => Promise<unknown>;
}

export function ArchiveDialog({ path, flag, opened, onClose, onArchived }: Props) {
  const navigate = useNavigate();
  const { mutateAsync: archive } = useArchiveFlag(path);
  const { data: summary } = useQuery(summaryQuery(path, "day", { flagKey: flag.key }));
  const counts = summary && countsOf(summary, flag.key);
  const archiveIt = async (tag: string | null) => {
    await archive({ tag });
    if (onArchived) {
      onClose();
      return onArchived();
    }
    return navigate({
      to: "/projects/$projectId/environments/$environmentId",
      params: { projectId: path.project_id, environmentId: path.env_id },
      replace: true,
    });
  };
  return (
    <ConfirmDialog
      title={texts.ask(flag.name)}
      consequence={[texts.consequence, ...(counts ? [texts.lastDay(counts.all, counts.on)] : [])].join(" ")}
      action={texts.archive}
      of={{ projectId: path.project_id, id: path.flag_id, resource: flag }}
      onConfirm={archiveIt}
      opened={opened}
      onClose={onClose}
    />
  );
}
