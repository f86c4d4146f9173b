/** A user's evaluations, each a link to what it returned. */

import { Title } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import type { EnvironmentPath } from "../../api/client";
import { recordsQuery } from "./peopleCalls";
import type { PersonSearch } from "./person";
import { inFull } from "../../ui/time";
import { historyTexts } from "../history/historyTexts";
import { people as texts } from "./peopleTexts";
import { Attributes } from "../history/Attributes";
import { Empty } from "../../ui/Empty";
import { IconHistory } from "../../ui/icons";
import { AnchorLink } from "../../ui/links";
import { Pages } from "../../ui/Pages";
import classes from "./People.module.css";

export function RecordList({ path, person }: { path: EnvironmentPath; person: PersonSearch }) {
  const query = useInfiniteQuery(recordsQuery(path, person));
  const items = query.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <section aria-label={texts.recordsHeading} className={classes.part}>
      <Title order={3} fz="md" mb="xs">
        {texts.recordsHeading}
      </Title>
      <Pages
        query={query}
        count={items.length}
        empty={<Empty icon={<IconHistory size={22} />} title={texts.recordsNone} text={texts.recordsNoneText} />}
      >
        <ol className={classes.list}>
          {items.map((each) => (
            <li key={each.id} className={classes.row}>
              <span>
                <AnchorLink
                  to="/projects/$projectId/environments/$environmentId/evaluations/$evaluationId"
                  params={{ projectId: path.project_id, environmentId: path.env_id, evaluationId: each.id }}
                  search={person.flag === undefined ? {} : { flag: person.flag }}
                >
                  <time dateTime={each.evaluated_at}>{inFull(each.evaluated_at)}</time>
                </AnchorLink>{" "}
                · {historyTexts.counts(each.on ?? 0, each.off ?? 0)}
              </span>
              <Attributes of={each.attributes} />
            </li>
          ))}
        </ol>
      </Pages>
    </section>
  );
}
