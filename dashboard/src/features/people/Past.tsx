/** What was recorded of a user in one environment, lately or on a day. */

import { Button, Group, NativeSelect, Title } from "@mantine/core";
import type { Environment } from "../../api/client";
import { lastDays, type PersonSearch, weekday } from "./person";
import { people as texts } from "./peopleTexts";
import { TypedInput } from "../../ui/TypedInput";
import { useNow } from "../../ui/When";
import { AnswerChangeList } from "./AnswerChangeList";
import { EventList } from "./EventList";
import classes from "./People.module.css";
import { RecordList } from "./RecordList";

const DAYS = 8; // so that the same day of last week is among them

interface Props {
  readonly projectId: string;
  readonly environments: readonly Environment[];
  readonly environment: Environment;
  readonly person: PersonSearch;
  /** Whose events are shown; undefined while that is not known. */
  readonly reporter: PersonSearch | undefined;
  readonly onSearch: (next: PersonSearch) => void;
}

export function Past({ projectId, environments, environment, person, reporter, onSearch }: Props) {
  const path = { project_id: projectId, env_id: environment.id };
  return (
    <section aria-label={texts.pastHeading} className={classes.past}>
      <Title order={2} mb="sm">
        {texts.pastHeading}
      </Title>
      <div className={classes.where}>
        <NativeSelect
          label={texts.environment}
          value={environment.key}
          onChange={(event) => onSearch({ ...person, environment: event.currentTarget.value })}
          data={environments.map(({ key, name }) => ({ value: key, label: name }))}
        />
        <TypedInput
          type="date"
          label={texts.otherDay}
          value={person.day}
          onChange={(day) => onSearch({ ...person, day })}
        />
      </div>
      <Days person={person} onSearch={onSearch} />
      <AnswerChangeList path={path} person={person} />
      <RecordList path={path} person={person} />
      <EventList path={path} person={reporter} />
    </section>
  );
}

function Days({ person, onSearch }: Pick<Props, "person" | "onSearch">) {
  const days = lastDays(useNow(), DAYS);
  return (
    <Group gap={6} mb="md" role="group" aria-label={texts.day}>
      {[undefined, ...days].map((day) => (
        <Button
          key={day ?? ""}
          size="xs"
          variant={day === person.day ? "filled" : "default"}
          aria-pressed={day === person.day}
          // An empty day takes the filter away.
          onClick={() => onSearch({ ...person, day: day ?? "" })}
        >
          {day === undefined ? texts.lately : day === days[0] ? texts.today : weekday(day)}
        </Button>
      ))}
    </Group>
  );
}
