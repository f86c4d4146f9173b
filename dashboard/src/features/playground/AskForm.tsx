/** The form for users, environments and flags. */

import { Alert, Button, MultiSelect, Stack, Textarea } from "@mantine/core";
import { useState } from "react";
import type { Environment } from "../../api/client";
import { type Choice, ENVIRONMENTS_MAX } from "./grid";
import { type LineProblem, type PastedUser, readUsers } from "./playgroundUsers";
import { playground as texts } from "./playgroundTexts";
import { IconAlert } from "../../ui/icons";
import { Refusal } from "../../ui/Refusal";
import { FlagChoice } from "./FlagChoice";
import classes from "./Playground.module.css";

const PROBLEMS_SHOWN = 8;

interface Props {
  readonly projectId: string;
  readonly environments: readonly Environment[];
  readonly choice: Choice;
  readonly busy: boolean;
  readonly refusal: string | null;
  readonly onChoose: (choice: Choice) => void;
  readonly onAsk: (users: readonly PastedUser[]) => void;
}

export function AskForm({ projectId, environments, choice, busy, refusal, onChoose, onAsk }: Props) {
  const [text, setText] = useState("");
  const [problems, setProblems] = useState<readonly LineProblem[]>([]);
  const submit = () => {
    const pasted = readUsers(text);
    setProblems(pasted.problems);
    if (pasted.problems.length === 0) onAsk(pasted.users);
  };
  const chooseEnvironments = (ids: readonly string[]) => {
    const chosen = environments.filter(({ id }) => ids.includes(id));
    if (chosen.length > 0) onChoose({ ...choice, environments: chosen });
  };
  return (
    <form
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Textarea
        label={texts.users}
        description={texts.usersHint}
        placeholder={texts.usersExample}
        classNames={{ input: "mono" }}
        autosize
        minRows={5}
        maxRows={12}
        autoComplete="off"
        spellCheck={false}
        value={text}
        error={problems.length > 0}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Stack gap="sm">
        <MultiSelect
          label={texts.environments}
          data={environments.map(({ id, name }) => ({ value: id, label: name }))}
          value={choice.environments.map(({ id }) => id)}
          maxValues={ENVIRONMENTS_MAX}
          onChange={chooseEnvironments}
        />
        <FlagChoice projectId={projectId} chosen={choice.flags} onChoose={(flags) => onChoose({ ...choice, flags })} />
        <Problems problems={problems} />
        <Refusal text={refusal} />
        <Button type="submit" loading={busy} className={classes.ask}>
          {texts.ask}
        </Button>
      </Stack>
    </form>
  );
}

function Problems({ problems }: { problems: readonly LineProblem[] }) {
  if (problems.length === 0) return null;
  const more = problems.length - PROBLEMS_SHOWN;
  return (
    <Alert role="alert" color="alarm" variant="light" icon={<IconAlert />} py="xs" title={texts.mendLines}>
      <ul className={classes.problems}>
        {problems.slice(0, PROBLEMS_SHOWN).map(({ line, message }) => (
          <li key={line}>{texts.line(line, message)}</li>
        ))}
        {more > 0 && <li>{texts.moreProblems(more)}</li>}
      </ul>
    </Alert>
  );
}
