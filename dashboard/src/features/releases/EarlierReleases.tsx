/** The releases of a flag that have ended, newest first. Each unfolds to its steps and results. */

import { Badge, Group, Text } from "@mantine/core";
import type { Rule } from "../../api/client";
import type { Release } from "./releasesCalls";
import type { FlagPlace } from "../../api/flagPlace";
import { changesInWords, isObserved, nameOf } from "./releases";
import { releases as texts } from "./releasesTexts";
import { Given } from "../../ui/Given";
import { IconHistory } from "../../ui/icons";
import { Unfold } from "../../ui/Unfold";
import { When } from "../../ui/When";
import classes from "./Releases.module.css";
import { Results } from "./Results";
import { STATE_COLOURS } from "./stateColours";
import { Steps } from "./Steps";

type Props = Pick<FlagPlace, "path" | "flag"> & {
  readonly releases: readonly Release[];
  readonly rules: readonly Rule[];
};

export function EarlierReleases({ path, flag, releases, rules }: Props) {
  return (
    <ul className={classes.list}>
      {releases.map((release) => (
        <li key={release.id} className={classes.row}>
          <Group gap="xs">
            <Text fw={570} className="break">
              <Given text={nameOf(release)} />
            </Text>
            <Badge {...STATE_COLOURS[release.state]}>{texts.states[release.state]}</Badge>
          </Group>
          <Text size="sm" c="dimmed" className="break">
            {release.steps.map(({ changes }) => changesInWords(changes, rules)).join(" → ")} · {texts.made}{" "}
            <When at={release.created_at} /> {texts.by(release.author.email)}
            {release.ended_at !== null && (
              <>
                , {texts.ended} <When at={release.ended_at} />
              </>
            )}
          </Text>
          {release.reason !== null && (
            <Text size="sm" className="break">
              {release.reason}
            </Text>
          )}
          <Unfold label={texts.detailsOf(nameOf(release))} icon={<IconHistory size={15} />}>
            <div className={classes.details}>
              <Steps release={release} rules={rules} />
              {isObserved(release) && <Results path={path} flag={flag} release={release} />}
            </div>
          </Unfold>
        </li>
      ))}
    </ul>
  );
}
