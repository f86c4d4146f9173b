/** The newest changes in a project, in a line each. */

import { Group, Text, Title } from "@mantine/core";
import type { Change } from "../../api/changes";
import { actorInWords, flagNamesIn, subjectOf, verbOf } from "../audit/changeSentences";
import { overview as texts } from "./overviewTexts";
import { ChangeSubject } from "../audit/ChangeSubject";
import { AnchorLink } from "../../ui/links";
import { When } from "../../ui/When";
import classes from "./Overview.module.css";

const SHOWN = 8;

interface Props {
  readonly projectId: string;
  readonly changes: readonly Change[];
}

export function RecentChanges({ projectId, changes }: Props) {
  const names = flagNamesIn(changes);
  return (
    <section aria-label={texts.recent}>
      <Group justify="space-between" mb="xs">
        <Title order={2}>{texts.recent}</Title>
        <AnchorLink to="/projects/$projectId/audit" params={{ projectId }} size="sm">
          {texts.allChanges}
        </AnchorLink>
      </Group>
      <ol className={classes.changes}>
        {changes.slice(0, SHOWN).map((each) => (
          <li key={each.id} className={classes.change}>
            <span className="break">
              {actorInWords(each.actor)} {verbOf(each)}{" "}
              <ChangeSubject projectId={projectId} change={each} name={subjectOf(each, names)} />
            </span>
            <Text span size="sm" c="dimmed" className={classes.when}>
              <When at={each.at} />
            </Text>
          </li>
        ))}
      </ol>
    </section>
  );
}

interface ChangeInWordsProps {
  readonly change: Change;
  readonly names: ReadonlyMap<string, string>;
}

/** A change in words, without links. */
export function ChangeInWords({ change, names }: ChangeInWordsProps) {
  return (
    <span className="break">
      {actorInWords(change.actor)} {verbOf(change)} {subjectOf(change, names)}, <When at={change.at} />
    </span>
  );
}
