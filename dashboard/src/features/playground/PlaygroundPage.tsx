/** The results of flags for many users in several environments. */

import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { ANSWERS_MAX } from "./playgroundCalls";
import { AskForm } from "./AskForm";
import { Results } from "./Results";
import { Page } from "../../ui/Page";
import { type Choice, choiceOf, searchOf, toPlaygroundSearch } from "./grid";
import { refusalInWords } from "./playgroundRefusal";
import type { PastedUser } from "./playgroundUsers";
import { useEnvironments, useProject } from "../../ui/useHere";
import { playground as texts } from "./playgroundTexts";
import { useAskPlayground } from "./useAskPlayground";
import { useUrlState } from "../../ui/useUrlState";

const route = getRouteApi("/signed-in/projects/$projectId/playground");

export function PlaygroundPage() {
  const project = useProject();
  const environments = useEnvironments();
  const [search, change] = useUrlState(route, toPlaygroundSearch);
  const [choice, setChoice] = useState(choiceOf(search, environments));
  const [tooMany, setTooMany] = useState<string | null>(null);
  const { mutate, data: grid, error, variables, isPending, submittedAt } = useAskPlayground(project.id);
  const choose = (next: Choice) => {
    setChoice(next);
    change(searchOf(next));
  };
  const ask = (users: readonly PastedUser[]) => {
    const asked = users.length * choice.environments.length * choice.flags.length;
    setTooMany(asked > ANSWERS_MAX ? texts.tooManyAnswers(ANSWERS_MAX, asked) : null);
    if (asked <= ANSWERS_MAX) mutate({ ...choice, users });
  };
  return (
    <Page title={texts.heading} intro={texts.intro}>
      <AskForm
        projectId={project.id}
        environments={environments}
        choice={choice}
        busy={isPending}
        refusal={tooMany ?? (error ? refusalInWords(error, variables) : null)}
        onChoose={choose}
        onAsk={ask}
      />
      {grid && <Results key={submittedAt} projectId={project.id} grid={grid} />}
    </Page>
  );
}
