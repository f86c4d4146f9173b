/** The archived flags of an environment. */

import { Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useRef } from "react";
import type { EnvironmentPath, Flag } from "../../api/client";
import { archivedFlagsQuery } from "./archiveCalls";
import { ArchivedTools } from "./ArchivedTools";
import classes from "../../ui/ResourceRow.module.css";
import { Empty } from "../../ui/Empty";
import { IconArchive } from "../../ui/icons";
import { AnchorLink } from "../../ui/links";
import { Page } from "../../ui/Page";
import { RowsSkeleton } from "../../ui/PageSkeleton";
import { LoadFailed } from "../../ui/ProblemPage";
import { When } from "../../ui/When";
import { useHere } from "../../ui/useHere";
import { archive as texts } from "./archiveTexts";
import { Given } from "../../ui/Given";

export function ArchivedFlagsPage() {
  const { path } = useHere();
  const back = useRef<HTMLAnchorElement>(null);
  const { data: flags, error, refetch } = useQuery(archivedFlagsQuery(path));
  const newestFirst = flags?.toSorted((a, b) => (b.archived_at ?? "").localeCompare(a.archived_at ?? ""));
  return (
    <Page
      title={texts.heading}
      intro={texts.intro}
      actions={
        <AnchorLink
          ref={back}
          to="/projects/$projectId/environments/$environmentId"
          params={{ projectId: path.project_id, environmentId: path.env_id }}
        >
          {texts.back}
        </AnchorLink>
      }
    >
      {error && !flags && <LoadFailed error={error} onRetry={refetch} />}
      {!flags && !error && <RowsSkeleton rows={4} height={64} />}
      {newestFirst?.length === 0 && (
        <Empty icon={<IconArchive size={22} />} title={texts.emptyHeading} text={texts.emptyText} />
      )}
      {newestFirst && newestFirst.length > 0 && (
        <ul className={classes.list}>
          {newestFirst.map((flag) => (
            <ArchivedFlag key={flag.id} path={path} flag={flag} onGone={() => back.current?.focus()} />
          ))}
        </ul>
      )}
    </Page>
  );
}

/** `onGone` is called when the row is about to disappear, with the pressed button. */
function ArchivedFlag({ path, flag, onGone }: { path: EnvironmentPath; flag: Flag; onGone: () => void }) {
  return (
    <li className={classes.row} data-folds>
      <div className={classes.content}>
        <Title order={2} className="break">
          <AnchorLink
            to="/projects/$projectId/environments/$environmentId/flags/$flagId"
            params={{ projectId: path.project_id, environmentId: path.env_id, flagId: flag.id }}
          >
            <Given text={flag.name} />
          </AnchorLink>
        </Title>
        <code className={classes.key}>{flag.key}</code>
        <Text size="sm" c="dimmed">
          {texts.since} <When at={flag.archived_at ?? flag.updated_at} />
        </Text>
      </div>
      <ArchivedTools path={{ ...path, flag_id: flag.id }} flag={flag} onUnarchived={onGone} onDeleted={onGone} />
    </li>
  );
}
