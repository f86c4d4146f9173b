/** Saved views of a project: filters of the flag list with a name. */

import { useMutation } from "@tanstack/react-query";
import { client } from "../../api/client";
import { ask } from "../../api/problem";
import type { components } from "../../api/schema";
import { saveShown } from "../../api/saveShown";
import { ifMatch } from "../../api/states";
import { useOutdating } from "../../api/queryKeys";
import { read } from "../../api/reads";

export type View = components["schemas"]["ViewOut"];
export type ViewUpdate = components["schemas"]["ViewUpdate"];

export const BASE = "/api/projects/{project_id}/views";
const ONE = `${BASE}/{view_id}` as const;

export function viewsQuery(projectId: string) {
  return read(BASE, { project_id: projectId });
}

/** Saves a new view, or changes one, unless its state differs from the one that was shown. */
export function useSaveView(projectId: string) {
  return useMutation({
    mutationFn: ({ view, ...body }: { view?: View; name: string; search: View["search"] }) => {
      if (view === undefined) return ask(client.POST(BASE, { params: { path: { project_id: projectId } }, body }));
      const params = at(projectId, view);
      return saveShown(
        () => client.GET(ONE, { params }),
        view,
        body,
        (tag) => ask(client.PUT(ONE, { params, body, ...ifMatch(tag) })),
      );
    },
    onSettled: useRefresh(projectId),
  });
}

export function useDeleteView(projectId: string) {
  return useMutation({
    mutationFn: (view: View) => {
      const params = at(projectId, view);
      return saveShown(
        () => client.GET(ONE, { params }),
        view,
        { name: view.name, search: view.search },
        (tag) => ask(client.DELETE(ONE, { params, ...ifMatch(tag) })),
      );
    },
    onSettled: useRefresh(projectId),
  });
}

function at(projectId: string, view: View) {
  return { path: { project_id: projectId, view_id: view.id } };
}

function useRefresh(projectId: string) {
  return useOutdating(viewsQuery(projectId));
}
