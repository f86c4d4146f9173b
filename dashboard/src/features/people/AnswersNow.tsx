/** The present result of every flag in every environment for a user, with the reason. */

import { Text, Title } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import type { Environment } from "../../api/client";
import type { Evaluation } from "../history/historyCalls";
import { answersQuery } from "./peopleCalls";
import type { PersonSearch } from "./person";
import { people as texts } from "./peopleTexts";
import { IconFlag } from "../../ui/icons";
import { Empty } from "../../ui/Empty";
import { ListSearch } from "../../ui/ListSearch";
import { Pages } from "../../ui/Pages";
import { AnswerTable } from "./AnswerTable";
import { Basis } from "./Basis";

interface Props {
  readonly projectId: string;
  readonly environments: readonly Environment[];
  readonly person: PersonSearch;
  /** The most informative evaluation of the user in each environment. */
  readonly latest: readonly (Evaluation | null)[];
  readonly onSearch: (next: PersonSearch) => void;
}

export function AnswersNow({ projectId, environments, person, latest, onSearch }: Props) {
  const query = useInfiniteQuery(answersQuery(projectId, environments, person, latest));
  const rows = query.data?.pages.flatMap((page) => page.rows) ?? [];
  return (
    <section aria-label={texts.nowHeading}>
      <Title order={2}>{texts.nowHeading}</Title>
      <Text c="dimmed" size="sm" mb="sm">
        {texts.nowText}
      </Text>
      <Basis environments={environments} latest={latest} />
      <ListSearch
        label={texts.searchFlags}
        selected={person.flag ?? ""}
        onChange={(flag) => onSearch({ ...person, flag })}
      />
      <Pages
        query={query}
        count={rows.length}
        more={texts.more}
        empty={<Empty icon={<IconFlag size={22} />} title={texts.noFlags} text={texts.noFlagsText} />}
      >
        <AnswerTable projectId={projectId} environments={environments} rows={rows} />
      </Pages>
    </section>
  );
}
