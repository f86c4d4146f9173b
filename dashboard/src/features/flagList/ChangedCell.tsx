/** When a flag was last changed, with who did what as its tooltip, and a link to its changes, where it can be restored. */

import { Tooltip } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import type { Flag } from "../../api/client";
import { ago } from "../../ui/time";
import { common } from "../../ui/commonTexts";
import { flagList as texts } from "../views/flagListTexts";
import { useNow } from "../../ui/When";

const LastChange = lazy(() => import("../audit/LastChange"));

export function ChangedCell({ flag, at }: { flag: Flag; at: string }) {
  const when = ago(at, useNow()) ?? common.now;
  const params = { projectId: flag.project_id, environmentId: flag.environment_id, flagId: flag.id };
  return (
    <Tooltip
      multiline
      maw={320}
      openDelay={250}
      events={{ hover: true, focus: true, touch: false }}
      label={
        <Suspense fallback={common.loading}>
          <LastChange flag={flag} />
        </Suspense>
      }
    >
      <Link
        to="/projects/$projectId/environments/$environmentId/flags/$flagId"
        params={params}
        search={{ tab: "changes" }}
        aria-label={texts.changedAt(when)}
      >
        <time dateTime={at}>{when}</time>
      </Link>
    </Tooltip>
  );
}
