/** Evaluates flags for many users in several environments. */

import { client } from "../../api/client";
import { ask } from "../../api/problem";
import type { components } from "../../api/schema";

export const ANSWERS_MAX = 20_000;

export function askPlayground(projectId: string, body: components["schemas"]["AskPlayground"]) {
  return ask(
    client.POST("/api/projects/{project_id}/playground", { params: { path: { project_id: projectId } }, body }),
  );
}
