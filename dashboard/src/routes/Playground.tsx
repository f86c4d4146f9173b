/** The results of flags for many users in several environments. */

import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { ANSWERS_MAX } from "../api/playground";
import { AskForm } from "../components/playground/AskForm";
import { Results } from "../components/playground/Results";
import { Page } from "../components/shared/Page";
import { type Choice, choiceOf, searchOf } from "../components/playground/grid";
import { refusalInWords } from "../components/playground/playgroundRefusal";
import type { PastedUser } from "../components/playground/playgroundUsers";
import { useEnvironments, useProject } from "../lib/hooks/useHere";
import { playground as texts } from "../texts/playground";
import { useAskPlayground } from "../components/playground/useAskPlayground";

const route = getRouteApi("/signed-in/projects/$projectId/playground");

export function Playground() {
  const project = useProject();
  const environments = useEnvironments();
  const navigate = route.useNavigate();
  const [choice, setChoice] = useState(choiceOf(route.useSearch(), environments));
  const [tooMany, setTooMany] = useState<string | null>(null);
  const { mutate, data: grid, error, variables, isPending, submittedAt } = useAskPlayground(project.id);
  const choose = (next: Choice) => {
    setChoice(next);
    void navigate({ search: searchOf(next), replace: true });
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
