/** A user of the applications: what every flag gives them now, and what was recorded. */

import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { isNamed, latestQuery } from "./peopleCalls";
import { AnswersNow } from "./AnswersNow";
import { Past } from "./Past";
import { WhoForm } from "./WhoForm";
import { Empty } from "../../ui/Empty";
import { IconSearch } from "../../ui/icons";
import { Page } from "../../ui/Page";
import { RowsSkeleton } from "../../ui/PageSkeleton";
import { LoadFailed } from "../../ui/ProblemPage";
import { lastEnvironment } from "../../ui/lastEnvironment";
import { nameOf, newestOf, type PersonSearch, toPersonSearch, withId } from "./person";
import { useEnvironments, useProject } from "../../ui/useHere";
import { people as texts } from "./peopleTexts";
import { useUrlState } from "../../ui/useUrlState";

const route = getRouteApi("/signed-in/projects/$projectId/user");

export function PersonPage() {
  const [person, search] = useUrlState(route, toPersonSearch);
  const lookUp = ({ id, email }: PersonSearch) => search(toPersonSearch({ ...person, id, email }), { replace: false });
  const isKnown = isNamed(person);
  const who = JSON.stringify([person.id, person.email]); // the data of one user must not be shown for the next one
  return (
    <Page title={isKnown ? texts.heading(nameOf(person)) : texts.headingNone} intro={texts.intro}>
      <WhoForm key={who} person={person} onLookUp={lookUp} />
      {isKnown ? (
        <About key={who} person={person} onSearch={search} />
      ) : (
        <Empty icon={<IconSearch size={22} />} title={texts.emptyTitle} text={texts.emptyText} />
      )}
    </Page>
  );
}

function About({ person, onSearch }: { person: PersonSearch; onSearch: (next: PersonSearch) => void }) {
  const project = useProject();
  const environments = useEnvironments();
  const { data: latest, error, isPending, refetch } = useQuery(latestQuery(project.id, environments, person));
  const remembered = lastEnvironment(project.id);
  const shown =
    environments.find(({ key }) => key === person.environment) ??
    environments.find(({ id }) => id === remembered) ??
    environments[0];
  if (!shown) return <Text c="dimmed">{texts.noFlags}</Text>;
  const recorded = latest?.[environments.indexOf(shown)] ?? newestOf(latest ?? []);
  return (
    <>
      {error && !latest && <LoadFailed error={error} onRetry={() => void refetch()} />}
      {!error && !latest && <RowsSkeleton />}
      {latest && (
        <AnswersNow
          projectId={project.id}
          environments={environments}
          person={person}
          latest={latest}
          onSearch={onSearch}
        />
      )}
      <Past
        projectId={project.id}
        environments={environments}
        environment={shown}
        person={person}
        reporter={person.id === undefined && isPending ? undefined : withId(person, recorded)}
        onSearch={onSearch}
      />
    </>
  );
}
