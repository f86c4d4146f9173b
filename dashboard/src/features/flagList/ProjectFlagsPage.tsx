/** The flags of a project in all of its environments, side by side. */

import { Button, Checkbox } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { projectFlagsQuery } from "../flags/projectFlagsCalls";
import { ProjectFlagTable } from "./ProjectFlagTable";
import classes from "./ProjectFlagTable.module.css";
import { Empty } from "../../ui/Empty";
import { IconFlag, IconFunnelOff } from "../../ui/icons";
import { ListSearch } from "../../ui/ListSearch";
import { Page } from "../../ui/Page";
import { Pages } from "../../ui/Pages";
import { type ProjectFlagsSearch, toProjectFlagsSearch } from "./projectFlagTable";
import { useEnvironments, useProject } from "../../ui/useHere";
import { common } from "../../ui/commonTexts";
import { projectFlags as texts } from "../flags/projectFlagsTexts";
import { useUrlState } from "../../ui/useUrlState";

const route = getRouteApi("/signed-in/projects/$projectId/flags");

export function ProjectFlagsPage() {
  const project = useProject();
  const environments = useEnvironments();
  const [search, onFilter] = useUrlState(route, toProjectFlagsSearch);
  const query = useInfiniteQuery(projectFlagsQuery(project.id, search));
  const rows = query.data?.pages.flatMap(({ items }) => items) ?? [];
  const isFiltered = Object.keys(search).length > 0;
  return (
    <Page title={texts.heading} intro={texts.intro}>
      <search className={classes.filters}>
        <ListSearch label={texts.search} selected={search.q ?? ""} onChange={(q) => onFilter({ ...search, q })} />
        <Checkbox
          mb="md"
          label={texts.differs}
          checked={search.differs ?? false}
          onChange={({ currentTarget: { checked } }) =>
            onFilter({ ...(search.q && { q: search.q }), ...(checked && { differs: true }) })
          }
        />
      </search>
      <Pages
        query={query}
        count={rows.length}
        more={texts.more}
        empty={isFiltered ? <NoMatch search={search} onClear={() => onFilter({})} /> : <NoFlags />}
      >
        <ProjectFlagTable projectId={project.id} environments={environments} rows={rows} />
      </Pages>
    </Page>
  );
}

function NoMatch({ search, onClear }: { search: ProjectFlagsSearch; onClear: () => void }) {
  const text = search.differs && !search.q ? texts.noneDiffer : texts.noMatchText;
  return (
    <Empty icon={<IconFunnelOff size={22} />} title={texts.noMatch} text={text}>
      <Button variant="default" onClick={onClear}>
        {common.clearFilters}
      </Button>
    </Empty>
  );
}

function NoFlags() {
  return <Empty icon={<IconFlag size={22} />} title={texts.emptyHeading} text={texts.emptyText} />;
}
