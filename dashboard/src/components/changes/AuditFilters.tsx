/** Filters of a project's audit. The selection is in the URL. */

import { NativeSelect } from "@mantine/core";
import type { Environment } from "../../api/client";
import type { AuditSearch } from "../../lib/auditFilter";
import { restore as texts } from "../../texts/restore";
import classes from "../history/History.module.css";
import { TypedInput } from "../shared/TypedInput";

interface Props {
  readonly environments: readonly Environment[];
  readonly search: AuditSearch;
  readonly onChange: (search: AuditSearch) => void;
}

const ACTIONS = [
  "flag.created",
  "flag.updated",
  "flag.toggled",
  "flag.archived",
  "flag.unarchived",
  "flag.deleted",
  "rule.created",
  "rule.updated",
  "rule.deleted",
  "segment.created",
  "segment.updated",
  "segment.deleted",
  "metric.created",
  "metric.updated",
  "metric.deleted",
  "release.created",
  "release.step_applied",
  "release.step_skipped",
  "release.paused",
  "release.resumed",
  "release.cancelled",
  "release.warned",
  "release.stopped",
  "release.failed",
  "release.done",
  "comment.deleted",
  "view.created",
  "view.updated",
  "view.deleted",
  "project.created",
  "project.updated",
  "project.key_regenerated",
  "environment.created",
  "environment.updated",
  "environment.deleted",
  "sdk_key.created",
  "sdk_key.revoked",
  "webhook.created",
  "webhook.updated",
  "webhook.secret_rotated",
  "webhook.disabled",
  "webhook.deleted",
  "member.added",
  "member.updated",
  "member.removed",
  "member.joined",
  "invitation.created",
  "invitation.sent",
  "invitation.accepted",
  "invitation.deleted",
  "token.created",
  "token.deleted",
];
const TEXT = { autoComplete: "off", spellCheck: false } as const;
const TIME = { type: "datetime-local", miw: 0, className: classes.moment ?? "" } as const;

export function AuditFilters({ environments, search, onChange }: Props) {
  const choose = (part: Readonly<Partial<Record<keyof AuditSearch, string>>>) => onChange({ ...search, ...part });
  return (
    <search className={classes.filters}>
      <TypedInput {...TEXT} label={texts.actor} value={search.actor} onChange={(actor) => choose({ actor })} />
      <NativeSelect
        label={texts.action}
        value={search.action ?? ""}
        onChange={(event) => choose({ action: event.currentTarget.value })}
        data={[
          { value: "", label: texts.actionAny },
          ...ACTIONS.map((value) => ({ value, label: texts.actionName(value) })),
        ]}
      />
      <TypedInput {...TEXT} label={texts.flag} value={search.flag} onChange={(flag) => choose({ flag })} />
      <NativeSelect
        label={texts.environment}
        value={search.environment ?? ""}
        onChange={(event) => choose({ environment: event.currentTarget.value })}
        data={[
          { value: "", label: texts.environmentAny },
          ...environments.map(({ key, name }) => ({ value: key, label: name })),
        ]}
      />
      <TypedInput {...TIME} label={texts.since} value={search.since} onChange={(since) => choose({ since })} />
      <TypedInput {...TIME} label={texts.until} value={search.until} onChange={(until) => choose({ until })} />
    </search>
  );
}
