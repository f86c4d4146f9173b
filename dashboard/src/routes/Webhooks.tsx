/** The webhooks of a project: where changes are sent, and the results. */

import { useQuery } from "@tanstack/react-query";
import { lazy } from "react";
import { permissionsQuery } from "../api/members";
import { IconHistory } from "../components/shared/icons";
import { Locked } from "../components/shared/ProblemPage";
import { Unfold } from "../components/shared/Unfold";
import { WebhookList } from "../components/webhooks/WebhookList";
import { reasonAgainst } from "../lib/roles";
import { useEnvironments, useProject } from "../lib/hooks/useHere";
import { t } from "../texts";
import { webhooks as texts } from "../texts/webhooks";

const ProjectChanges = lazy(() => import("../components/changes/ProjectChanges"));

export function Webhooks() {
  const project = useProject();
  const environments = useEnvironments();
  const { data: own } = useQuery(permissionsQuery(project.id));
  const reason = own && reasonAgainst(own, "webhooks:read");
  const isShown = own !== undefined && !reason;
  return (
    <WebhookList place={project.id} intro={texts.intro} environments={environments} isShown={isShown}>
      {reason && <Locked title={t.problems.forbidden}>{reason}</Locked>}
      {isShown && (
        <Unfold label={texts.changes} icon={<IconHistory size={15} />}>
          <ProjectChanges projectId={project.id} resource="webhook" />
        </Unfold>
      )}
    </WebhookList>
  );
}
