/** The flags whose results changed for a user between two evaluations: when, from what to what, and why. */

import { Text, Title } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import type { EnvironmentPath } from "../../api/client";
import { type AnswerChange, answerChangesQuery } from "../../api/people";
import type { PersonSearch } from "../../lib/person";
import { inFull } from "../../lib/time";
import { t } from "../../texts";
import { people as texts } from "../../texts/people";
import { Empty } from "../shared/Empty";
import { IconHistory } from "../shared/icons";
import { AnchorLink } from "../shared/links";
import { Pages } from "../shared/Pages";
import classes from "./People.module.css";

interface Props {
  readonly path: EnvironmentPath;
  readonly person: PersonSearch;
}

export function AnswerChangeList({ path, person }: Props) {
  const query = useInfiniteQuery(answerChangesQuery(path, person));
  const items = query.data?.pages.flatMap((page) => page.items) ?? [];
  const since = query.data?.pages.findLast((page) => page.since !== null)?.since;
  return (
    <section aria-label={texts.changesHeading} className={classes.part}>
      <Title order={3} fz="md">
        {texts.changesHeading}
      </Title>
      <Text c="dimmed" size="sm" mb="xs">
        {texts.changesText} {since && query.hasNextPage && texts.comparedSince(inFull(since))}
      </Text>
      <Pages
        query={query}
        count={items.length}
        more={texts.changesMore}
        empty={<Empty icon={<IconHistory size={22} />} title={texts.changesNone} text={texts.changesNoneText} />}
      >
        <ol className={classes.list}>
          {items.map((each) => (
            <Row key={`${each.after.evaluation_id} ${each.flag_key}`} path={path} change={each} />
          ))}
        </ol>
      </Pages>
    </section>
  );
}

function Row({ path, change: { flag_key: key, before, after } }: { path: EnvironmentPath; change: AnswerChange }) {
  const linked = (point: AnswerChange["after"]) => (
    <AnchorLink
      to="/projects/$projectId/environments/$environmentId/evaluations/$evaluationId"
      params={{ projectId: path.project_id, environmentId: path.env_id, evaluationId: point.evaluation_id }}
      search={{ flag: key }}
      size="sm"
    >
      <time dateTime={point.evaluated_at}>{inFull(point.evaluated_at)}</time>
    </AnchorLink>
  );
  return (
    <li className={classes.row}>
      <span>
        <strong className="mono">{key}</strong> {texts.fromTo(answerOf(before), answerOf(after))}
      </span>
      <span>
        {linked(after)} · {after.outcome.reason}
      </span>
      <small>
        {texts.before} {linked(before)} · {before.outcome.reason}
      </small>
    </li>
  );
}

function answerOf({ outcome: { enabled, variant } }: AnswerChange["after"]): string {
  return [enabled ? t.on : t.off, variant != null && t.history.variant(variant)].filter(Boolean).join(", ");
}
