/** Shows what others have changed while a dialog is open, and offers a choice where both have changed the same field. */

import { Radio, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lastChangeQuery } from "../changes/lastChange";
import { fieldChanges } from "../changes/changes";
import { sideInWords, subjectOfConflict } from "./conflictWords";
import type { Conflict, Side } from "./merge";
import type { Changed } from "./useEditor";
import { changed as texts } from "./changedTexts";
import { ChangedFields } from "../changes/ChangedFields";
import classes from "./ChangedMeanwhile.module.css";

type Props = Changed & { readonly note?: string | undefined };

export default function ChangedMeanwhile(props: Props) {
  const { projectId, resourceId, base, state, conflicts, onChoose, note } = props;
  const { data } = useQuery(lastChangeQuery(projectId, resourceId, state));
  const who = state.by ?? data ?? texts.someone;
  const fields = fieldChanges({ before: base, after: state.resource });
  const names = fields.map(({ field }) => texts.field(field));
  return (
    <div className={classes.box} data-quiet={conflicts.length === 0 || undefined} role="group" aria-label={texts.label}>
      <Stack gap="sm">
        <div role="status" className="break">
          <Text fw={570}>{note === undefined ? texts.while(who, names) : texts.since(who, names)}</Text>
          <Text size="sm">{note ?? (conflicts.length > 0 ? texts.choose(conflicts.length) : texts.both)}</Text>
        </div>
        {/* Focusable, because scrollable content must be scrollable by keyboard. */}
        <section className={classes.fields} tabIndex={0} aria-label={texts.fields}>
          <ChangedFields fields={fields} />
        </section>
        {conflicts.map((each) => (
          <Choice key={each.id} conflict={each} onChoose={(side) => onChoose(each.id, side)} />
        ))}
      </Stack>
    </div>
  );
}

interface ChoiceProps {
  readonly conflict: Conflict;
  readonly onChoose: (side: Side) => void;
}

function Choice({ conflict, onChoose }: ChoiceProps) {
  return (
    <Radio.Group
      label={subjectOfConflict(conflict)}
      value={conflict.choice}
      onChange={(side) => onChoose(side)}
      classNames={{ label: "break" }}
    >
      <Stack gap={6} mt={4}>
        <Radio value="mine" label={texts.mine(sideInWords(conflict, conflict.mine))} classNames={{ label: "break" }} />
        <Radio
          value="theirs"
          label={texts.theirs(sideInWords(conflict, conflict.theirs))}
          classNames={{ label: "break" }}
        />
      </Stack>
    </Radio.Group>
  );
}
