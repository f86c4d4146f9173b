/** The name of what was changed, as a link to its page if it may be there, and where it is. */

import { Text } from "@mantine/core";
import type { Change } from "../../api/changes";
import { useEnvironments } from "../../ui/useHere";
import { restore as texts } from "./restoreTexts";
import { AnchorLink } from "../../ui/links";
import { Given } from "../../ui/Given";

interface Props {
  readonly projectId: string;
  readonly change: Change;
  readonly name: string;
}

export function ChangeSubject({ projectId, change, name }: Props) {
  const environment = useEnvironments().find((each) => each.id === change.environment_id);
  return (
    <>
      <Subject projectId={projectId} change={change} name={name} isThere={environment !== undefined} />
      {environment && change.flag_id !== null && (
        <Text span c="dimmed" fw="normal">
          {" "}
          {texts.inEnvironment(environment.name)}
        </Text>
      )}
    </>
  );
}

function Subject({ projectId, change, name, isThere }: Props & { readonly isThere: boolean }) {
  const [kind] = change.action.split(".");
  const isGone = change.action.endsWith(".deleted") && kind !== "rule";
  if (isGone || !name) return <Given text={name} />;
  const params = { projectId, environmentId: change.environment_id ?? "" };
  if (change.flag_key !== null && isThere) {
    return (
      // By its key, because the flag may have been deleted since: then that page says so.
      <AnchorLink
        to="/projects/$projectId/environments/$environmentId/flags/by-key/$flagKey"
        params={{ ...params, flagKey: change.flag_key }}
      >
        <Given text={name} />
      </AnchorLink>
    );
  }
  if (kind === "environment" && isThere) {
    return (
      <AnchorLink to="/projects/$projectId/environments/$environmentId" params={params}>
        <Given text={name} />
      </AnchorLink>
    );
  }
  if (kind === "segment") {
    return (
      <AnchorLink to="/projects/$projectId/segments" params={{ projectId }}>
        <Given text={name} />
      </AnchorLink>
    );
  }
  return <Given text={name} />;
}
