import { Menu, Skeleton } from "@mantine/core";
import { Given } from "../ui/Given";
import { IconCheck, IconGrid } from "../ui/icons";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { projectQuery, projectsQuery } from "../api/projects";
import { shellTexts } from "../ui/shellTexts";
import { HeaderMenu } from "../ui/HeaderMenu";
import classes from "../ui/HeaderMenu.module.css";
import { MenuItemLink } from "../ui/links";

export function ProjectMenu({ projectId }: { projectId: string }) {
  const { data: project, isError } = useQuery(projectQuery(projectId));
  const [isNear, setNear] = useState(false);
  const { data: projects } = useQuery({ ...projectsQuery, enabled: isNear });
  if (!project) return isError ? null : <Skeleton h={22} w={110} mx={6} />;
  return (
    <HeaderMenu
      label={shellTexts.switchProject(project.name)}
      current={
        <span className={classes.name}>
          <Given text={project.name} />
        </span>
      }
      shrink
      onNear={() => setNear(true)}
    >
      <Menu.Label>{shellTexts.projects}</Menu.Label>
      {projects?.map((each) => (
        <MenuItemLink
          key={each.id}
          to="/projects/$projectId"
          params={{ projectId: each.id }}
          rightSection={each.id === projectId && <IconCheck size={14} />}
          aria-current={each.id === projectId || undefined}
        >
          <span className="break">
            <Given text={each.name} />
          </span>
        </MenuItemLink>
      ))}
      <Menu.Divider />
      <MenuItemLink to="/" leftSection={<IconGrid size={16} />}>
        {shellTexts.allProjects}
      </MenuItemLink>
    </HeaderMenu>
  );
}
