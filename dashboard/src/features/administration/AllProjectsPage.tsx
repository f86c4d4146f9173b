/** The projects of all accounts, which an administrator can join. */

import { Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { allProjectsQuery } from "./administrationCalls";
import { AdministeredProjectRow } from "./AdministeredProjectRow";
import { DeletedProjects } from "./DeletedProjects";
import classes from "./Administration.module.css";
import { Empty } from "../../ui/Empty";
import { IconGrid } from "../../ui/icons";
import { ListSearch } from "../../ui/ListSearch";
import { Page } from "../../ui/Page";
import { Pages } from "../../ui/Pages";
import { adminPagesTexts } from "../../ui/adminPagesTexts";
import { administration } from "./administrationTexts";
import { toListSearch } from "../../ui/search";
import { useUrlState } from "../../ui/useUrlState";

const route = getRouteApi("/signed-in/admin/projects");

export function AllProjectsPage() {
  const [{ q = "" }, search] = useUrlState(route, toListSearch);
  const query = useInfiniteQuery(allProjectsQuery(q));
  const projects = query.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <Page title={adminPagesTexts.projects} intro={administration.projectsIntro}>
      <ListSearch label={administration.searchProjects} selected={q} onChange={(text) => search({ q: text })} />
      <Pages query={query} count={projects.length} more={administration.more} empty={<NoProjects searched={q} />}>
        <ul className={classes.list} aria-label={adminPagesTexts.projects}>
          {projects.map((each) => (
            <AdministeredProjectRow key={each.id} project={each} />
          ))}
        </ul>
      </Pages>
      <DeletedProjects />
    </Page>
  );
}

function NoProjects({ searched }: { searched: string }) {
  if (searched) return <Text c="dimmed">{administration.noProjects(searched)}</Text>;
  return (
    <Empty icon={<IconGrid size={22} />} title={administration.noProjectsYet} text={administration.noProjectsYetText} />
  );
}
