/** The audit trail of a whole project: with filters, exact times, links, and a file of what is found. */

import { Button, Group, Text } from "@mantine/core";
import { useInfiniteQuery, useMutation } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { auditQuery, exportAudit, type Change } from "../api/changes";
import { AuditFilters } from "../components/changes/AuditFilters";
import { ChangeRows } from "../components/changes/ChangeRows";
import { ChangeSubject } from "../components/changes/ChangeSubject";
import { Empty } from "../components/shared/Empty";
import { IconFunnelOff } from "../components/shared/icons";
import { Page } from "../components/shared/Page";
import { Pages } from "../components/shared/Pages";
import { type AuditSearch, queryOf, toAuditSearch } from "../lib/auditFilter";
import { download } from "../lib/download";
import { notifyRefused } from "../lib/notify";
import { utcOffset } from "../lib/time";
import { useEnvironments, useProject } from "../lib/useHere";
import { t } from "../texts";
import { restore as texts } from "../texts/restore";

const route = getRouteApi("/signed-in/projects/$projectId/audit");

export function Audit() {
  const project = useProject();
  const environments = useEnvironments();
  const search = toAuditSearch({ ...route.useSearch() });
  const navigate = route.useNavigate();
  const [now] = useState(() => new Date());
  const wanted = queryOf(search);
  const query = useInfiniteQuery(auditQuery(project.id, wanted));
  const items = useMemo(() => query.data?.pages.flatMap((page) => page.items) ?? [], [query.data]);
  // A flag that has been deleted has a key, too.
  const flagNames = useMemo(() => new Map(items.map((each) => [each.flag_id ?? "", each.flag_key ?? ""])), [items]);
  const file = useMutation({
    mutationFn: () => exportAudit(project.id, wanted),
    onSuccess: (content) => download(content, texts.fileName),
    onError: (error) => notifyRefused(texts.notExported, error),
  });
  const onFilter = (next: AuditSearch) => void navigate({ search: toAuditSearch({ ...next }), replace: true });
  const linked = (change: Change, name: string) => <ChangeSubject projectId={project.id} change={change} name={name} />;
  return (
    <Page
      title={texts.heading}
      intro={texts.intro}
      actions={
        <Button variant="default" flex="none" loading={file.isPending} onClick={() => file.mutate()}>
          {texts.exportCsv}
        </Button>
      }
    >
      <AuditFilters environments={environments} search={search} onChange={onFilter} />
      <Text size="xs" c="dimmed" mb="xs">
        {texts.zone(utcOffset(now))}
      </Text>
      <Pages
        query={query}
        count={items.length}
        empty={
          <Empty icon={<IconFunnelOff size={22} />} title={texts.noMatch} text={texts.noMatchText}>
            <Group>
              <Button variant="default" onClick={() => onFilter({})}>
                {t.clearFilters}
              </Button>
            </Group>
          </Empty>
        }
      >
        <ChangeRows items={items} flagNames={flagNames} projectId={project.id} exact linked={linked} />
      </Pages>
    </Page>
  );
}
