/** Whether a project demands a second factor of its members. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { client } from "../../api/client";
import { ask } from "../../api/problem";
import { saveShown } from "../../api/saveShown";
import { ifMatch } from "../../api/states";
import { read } from "../../api/reads";

const SECURITY = "/api/projects/{project_id}/security";

export function securityQuery(projectId: string) {
  return read(SECURITY, { project_id: projectId });
}

export function useDemandSecondFactor(projectId: string) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (isDemanded: boolean) => {
      const body = { demands_second_factor: isDemanded };
      return saveShown(
        () => client.GET(SECURITY, { params: at(projectId) }),
        { demands_second_factor: !isDemanded },
        body,
        (tag) => ask(client.PUT(SECURITY, { params: at(projectId), body, ...ifMatch(tag) })),
      );
    },
    onSuccess: (security) => cache.setQueryData(securityQuery(projectId).queryKey, security),
  });
}

function at(projectId: string) {
  return { path: { project_id: projectId } };
}
