/** Shown instead of a flag that this environment does not have: where it is, and a button that creates it here. */

import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { Environment, FlagPath, Project } from "../../api/client";
import { flagQuery, useCreateFlag } from "../flags/flagsCalls";
import type { ProjectFlag } from "../flags/flagCache";
import { notifyRefused } from "../../api/notify";
import { withoutAudience } from "../flags/newFlags";
import { flagIn } from "../flags/projectFlags";
import { useEnvironments } from "../../ui/useHere";
import { projectFlags as texts } from "../flags/projectFlagsTexts";
import { EnvironmentBadge } from "../projects/EnvironmentBadge";
import { Empty } from "../../ui/Empty";
import { GuardedButton } from "../../ui/GuardedButton";
import { IconFlag, IconPlus } from "../../ui/icons";
import { AnchorLink } from "../../ui/links";
import { Page } from "../../ui/Page";
import classes from "./MissingFlag.module.css";

interface Props {
  readonly project: Project;
  readonly environment: Environment;
  readonly flagKey: string;
  /** The flags with this key in other environments; null if there are none. */
  readonly row: ProjectFlag | null;
}

const ENVIRONMENT = "/projects/$projectId/environments/$environmentId";

export function MissingFlag({ project, environment, flagKey, row }: Props) {
  const environments = useEnvironments();
  const places = environments.flatMap((each) => {
    const flag = row && flagIn(row, each);
    return flag ? [{ environment: each, flag }] : [];
  });
  const [source] = places;
  return (
    <Page title={texts.notHere(flagKey, environment.name)} size={720}>
      <Empty
        icon={<IconFlag size={22} />}
        title={source ? texts.isElsewhere : texts.isNowhere}
        text={source ? texts.createText(source.environment.name) : texts.isNowhereText}
      >
        <ul className={classes.places}>
          {places.map(({ environment: there, flag }) => (
            <li key={flag.id}>
              <AnchorLink
                to={`${ENVIRONMENT}/flags/$flagId`}
                params={{ projectId: project.id, environmentId: there.id, flagId: flag.id }}
                underline="never"
              >
                <EnvironmentBadge environment={there} />
              </AnchorLink>
            </li>
          ))}
        </ul>
        {source && (
          <CreateHere
            environment={environment}
            source={{ project_id: project.id, env_id: source.environment.id, flag_id: source.flag.id }}
          />
        )}
        <AnchorLink
          to={ENVIRONMENT}
          params={{ projectId: project.id, environmentId: environment.id }}
          size="sm"
          className="break"
        >
          {texts.allFlags(environment.name)}
        </AnchorLink>
      </Empty>
    </Page>
  );
}

function CreateHere({ environment, source }: { environment: Environment; source: FlagPath }) {
  const cache = useQueryClient();
  const navigate = useNavigate();
  const { mutateAsync: create, isPending } = useCreateFlag({ ...source, env_id: environment.id });
  const createHere = async () => {
    try {
      const body = withoutAudience(await cache.query(flagQuery(source)));
      const flag = await create({ body, alsoIn: [] });
      await navigate({
        to: `${ENVIRONMENT}/flags/$flagId`,
        params: { projectId: flag.project_id, environmentId: flag.environment_id, flagId: flag.id },
        replace: true,
      });
    } catch (error) {
      notifyRefused(texts.notCreated(environment.name), error);
    }
  };
  return (
    <GuardedButton
      needs="flags:write"
      leftSection={<IconPlus size={16} />}
      loading={isPending}
      onClick={() => void createHere()}
    >
      {texts.createHere}
    </GuardedButton>
  );
}
