/**
 * Why a result changed: the change that made the difference, with who made it, or what was different about the user.
 */

import { Text } from "@mantine/core";
import type { FoundCause } from "./causesCalls";
import type { Change } from "../../api/changes";
import { differenceInWords } from "./causes";
import { causes as texts } from "./causesTexts";
import { ChangeRows } from "../audit/ChangeRows";
import { ChangeSubject } from "../audit/ChangeSubject";
import classes from "./People.module.css";

interface Props {
  readonly projectId: string;
  /** Undefined while it is loading, and if it was not found. */
  readonly found: FoundCause | undefined;
  readonly isPending: boolean;
  readonly failed: boolean;
}

const WORDS: Partial<Record<FoundCause["cause"]["kind"], string>> = {
  possible: texts.possible,
  unrecorded: texts.unrecorded,
  unavailable: texts.unavailable,
  change_and_user: texts.both,
};

export function CauseOf({ projectId, found, isPending, failed }: Props) {
  return (
    <div className={classes.cause}>
      <Text span size="xs" fw={570}>
        {texts.cause}
      </Text>
      {found ? (
        <Found projectId={projectId} {...found} />
      ) : (
        <Text size="sm" c="dimmed">
          {isPending ? texts.searching : failed ? texts.failed : texts.notExamined}
        </Text>
      )}
    </div>
  );
}

function Found({ projectId, cause, changes }: FoundCause & { projectId: string }) {
  const words = WORDS[cause.kind];
  const flagNames = new Map(changes.map((each) => [each.flag_id ?? "", each.flag_key ?? ""]));
  const linked = (change: Change, name: string) => <ChangeSubject projectId={projectId} change={change} name={name} />;
  return (
    <>
      {words !== undefined && <Text size="sm">{words}</Text>}
      {cause.attributes.map((each) => (
        <Text key={each.name} size="sm">
          {differenceInWords(each)}
        </Text>
      ))}
      {changes.length > 0 && (
        <ChangeRows items={changes} flagNames={flagNames} projectId={projectId} exact linked={linked} />
      )}
      {cause.hidden_changes > 0 && <Text size="sm">{texts.hidden}</Text>}
      {cause.unknown_attributes.length > 0 && (
        <Text size="sm" c="dimmed">
          {texts.unknown(cause.unknown_attributes.join(", "))}
        </Text>
      )}
    </>
  );
}
