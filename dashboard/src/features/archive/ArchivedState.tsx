/**
 * Replaces the switch of an archived flag: since when it is archived, its state after unarchiving, and a button for
 * that.
 */

import { Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { audienceInFull, type RulesInForce } from "../../ui/conditions/audience";
import type { FlagPlace } from "../../api/flagPlace";
import { flagTexts } from "../flags/flagsTexts";
import { archive as texts } from "./archiveTexts";
import { EnvironmentBadge } from "../projects/EnvironmentBadge";
import { When } from "../../ui/When";
import { ArchivedTools } from "./ArchivedTools";
import classes from "../../ui/StateBar.module.css";

type Props = Omit<FlagPlace, "project"> & { readonly rulesInForce: RulesInForce | null };

export default function ArchivedState({ environment, path, flag, rulesInForce }: Props) {
  const navigate = useNavigate();
  const leave = () =>
    void navigate({
      to: "/projects/$projectId/environments/$environmentId/archived",
      params: { projectId: path.project_id, environmentId: path.env_id },
      replace: true,
    });
  return (
    <section className={classes.state} aria-label={flagTexts.state}>
      <div className={classes.words}>
        <Text>
          {texts.since} <When at={flag.archived_at ?? flag.updated_at} />. {texts.inNoAnswer}
        </Text>
        {rulesInForce && (
          <Text size="sm" c="dimmed" className="break">
            {texts.comesBack(audienceInFull(flag, rulesInForce))}
          </Text>
        )}
      </div>
      <ArchivedTools path={path} flag={flag} onDeleted={leave} />
      <EnvironmentBadge environment={environment} />
    </section>
  );
}
