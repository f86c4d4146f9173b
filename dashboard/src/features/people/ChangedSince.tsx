/** The flags whose results changed with a recorded evaluation, compared with the one before of the same user. */

import { Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { EnvironmentPath } from "../../api/client";
import type { Evaluation } from "../history/historyCalls";
import { changedInQuery } from "./peopleCalls";
import { causes as texts } from "./causesTexts";
import { AnswerChangeRows } from "./AnswerChangeRows";
import classes from "./People.module.css";

interface Props {
  readonly path: EnvironmentPath;
  readonly evaluation: Evaluation;
  /** Only flags whose keys contain this. */
  readonly search: string;
}

export function ChangedSince({ path, evaluation, search }: Props) {
  const { data = [] } = useQuery(changedInQuery(path, evaluation));
  const items = data.filter((each) => each.flag_key.includes(search));
  if (items.length === 0) return null;
  return (
    <section aria-label={texts.changedHeading} className={classes.part}>
      <Title order={2} fz="md">
        {texts.changedHeading}
      </Title>
      <Text c="dimmed" size="sm" mb="xs">
        {texts.changedText}
      </Text>
      <ol className={classes.list}>
        <AnswerChangeRows path={path} items={items} />
      </ol>
    </section>
  );
}
