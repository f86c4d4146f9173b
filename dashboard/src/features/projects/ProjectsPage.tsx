/** All projects of the account. */

import { Button, Text, TextInput } from "@mantine/core";
import { IconGrid, IconPlus, IconSearch } from "../../ui/icons";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Project } from "../../api/client";
import { projectsQuery } from "../../api/projects";
import { Empty } from "../../ui/Empty";
import { NewProjectDialog } from "./NewProjectDialog";
import { ManagementCall } from "../../ui/ManagementCall";
import { Page } from "../../ui/Page";
import { RowsSkeleton } from "../../ui/PageSkeleton";
import { LoadFailed } from "../../ui/ProblemPage";
import { When } from "../../ui/When";
import { createProjectCommand } from "../../ui/snippets";
import { useDialog } from "../../ui/useDialog";
import { projects as texts } from "./projectsTexts";
import classes from "./ProjectsPage.module.css";
import { Given } from "../../ui/Given";
import { visibleProse } from "../../ui/givenText";
import { serverAddress } from "../../api/server";

const SEARCH_FROM = 8;

export function ProjectsPage() {
  const { data, error, refetch } = useQuery(projectsQuery);
  const creation = useDialog();
  const create = (
    <Button leftSection={<IconPlus size={16} />} onClick={creation.open}>
      {texts.new}
    </Button>
  );
  return (
    <Page title={texts.heading} actions={data && data.length > 0 ? create : null}>
      {error && !data && <LoadFailed error={error} onRetry={refetch} />}
      {!data && !error && <RowsSkeleton height={64} />}
      {data && data.length > 0 && <ProjectList projects={data} />}
      {data?.length === 0 && (
        <Empty icon={<IconGrid size={22} />} title={texts.emptyHeading} text={texts.emptyText}>
          {create}
          <Text size="sm" c="dimmed">
            {texts.emptyCurl}
          </Text>
          <ManagementCall label={texts.emptyCurl} command={(token) => createProjectCommand(serverAddress(), token)} />
        </Empty>
      )}
      <NewProjectDialog {...creation.props} />
    </Page>
  );
}

function ProjectList({ projects }: { projects: readonly Project[] }) {
  const [query, setQuery] = useState("");
  const wanted = query.trim().toLowerCase();
  const found = projects.filter((each) => `${each.name} ${each.description ?? ""}`.toLowerCase().includes(wanted));
  return (
    <>
      {projects.length >= SEARCH_FROM && (
        <TextInput
          mb="md"
          maw={320}
          type="search"
          aria-label={texts.search}
          placeholder={texts.search}
          leftSection={<IconSearch size={16} />}
          value={query}
          onChange={(event) => setQuery(event.currentTarget.value)}
        />
      )}
      <ul className={classes.list}>
        {found.map((each) => (
          <li key={each.id}>
            <Link to="/projects/$projectId" params={{ projectId: each.id }} className={classes.project}>
              <span className={classes.name}>
                <Given text={each.name} />
              </span>
              <span className={classes.description} dir="auto">
                {each.description !== null && visibleProse(each.description)}
              </span>
              <span className={classes.created}>
                {texts.created} <When at={each.created_at} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
      {found.length === 0 && <Text c="dimmed">{texts.none(query)}</Text>}
    </>
  );
}
