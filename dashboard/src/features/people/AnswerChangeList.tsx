/** The flags whose results changed for a user between two evaluations. */

import { Text, Title } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import type { EnvironmentPath } from "../../api/client";
import { answerChangesQuery } from "./peopleCalls";
import type { PersonSearch } from "./person";
import { inFull } from "../../ui/time";
import { people as texts } from "./peopleTexts";
import { Empty } from "../../ui/Empty";
import { IconHistory } from "../../ui/icons";
import { Pages } from "../../ui/Pages";
import { AnswerChangeRows } from "./AnswerChangeRows";
import classes from "./People.module.css";

interface Props {
  readonly path: EnvironmentPath;
  readonly person: PersonSearch;
}

export function AnswerChangeList({ path, person }: Props) {
  const query = useInfiniteQuery(answerChangesQuery(path, person));
  const count = query.data?.pages.reduce((sum, page) => sum + page.items.length, 0) ?? 0;
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
        count={count}
        more={texts.changesMore}
        empty={<Empty icon={<IconHistory size={22} />} title={texts.changesNone} text={texts.changesNoneText} />}
      >
        <ol className={classes.list}>
          {query.data?.pages.map((page, index) => (
            // Each page asks for its causes once.
            <AnswerChangeRows key={page.items[0]?.after.evaluation_id ?? index} path={path} items={page.items} />
          ))}
        </ol>
      </Pages>
    </section>
  );
}
