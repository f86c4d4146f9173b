/** The document's title: the page, then the environment and the project, so that tabs can be told apart. */

import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { environmentsQuery } from "../api/environments";
import { projectQuery } from "../api/projects";
import { common } from "./commonTexts";

export function useTitle(page: string): void {
  const { projectId, environmentId } = useParams({ strict: false });
  const enabled = projectId !== undefined;
  const { data: project } = useQuery({ ...projectQuery(projectId ?? ""), enabled });
  const { data: environments } = useQuery({ ...environmentsQuery(projectId ?? ""), enabled });
  const environment = environments?.find((each) => each.id === environmentId);
  useDocumentTitle([page, environment?.name, project?.name, common.product].filter(Boolean).join(" · "));
}
