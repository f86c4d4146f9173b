/** The webhooks of a project: where changes are sent, and the results. */

import { useQuery } from "@tanstack/react-query";
import { lazy } from "react";
import { permissionsQuery } from "../../api/members";
import { IconHistory } from "../../ui/icons";
import { Locked } from "../../ui/ProblemPage";
import { Unfold } from "../../ui/Unfold";
import { WebhookList } from "./WebhookList";
import { reasonAgainst } from "../../ui/roles";
import { useEnvironments, useProject } from "../../ui/useHere";
import { problemsTexts } from "../../api/problemsTexts";
import { webhooks as texts } from "./webhooksTexts";

const ProjectChanges = lazy(() => import("../audit/ProjectChanges"));

export function WebhooksPage() {
  const project = useProject();
  const environments = useEnvironments();
  const { data: own } = useQuery(permissionsQuery(project.id));
  const reason = own && reasonAgainst(own, "webhooks:read");
  const isShown = own !== undefined && !reason;
  return (
    <WebhookList place={project.id} intro={texts.intro} environments={environments} isShown={isShown}>
      {reason && <Locked title={problemsTexts.forbidden}>{reason}</Locked>}
      {isShown && (
        <Unfold label={texts.changes} icon={<IconHistory size={15} />}>
          <ProjectChanges projectId={project.id} resource="webhook" />
        </Unfold>
      )}
    </WebhookList>
  );
}
