/** A flag that may be removed: the reasons, the effects, and the actions. */

import { Checkbox, Text } from "@mantine/core";

import { type Candidate, useKeepFlag } from "./cleanupCalls";
import type { EnvironmentPath } from "../../api/client";
import { consequences, type Evidence, pullRequestText, reasonsInWords } from "./cleanup";
import { notifyRefused } from "../../api/notify";
import { cleanup as texts } from "./cleanupTexts";
import { Tags } from "../../ui/Tags";
import { CopyButton } from "../../ui/CopyButton";
import { GuardedButton } from "../../ui/GuardedButton";
import { AnchorLink } from "../../ui/links";
import classes from "./Candidates.module.css";

interface Props {
  readonly path: EnvironmentPath;
  readonly candidate: Candidate;
  readonly evidence: Evidence;
  readonly chosen: boolean;
  readonly onChoose: (chosen: boolean) => void;
  readonly onArchive: () => void;
}

export function CandidateRow({ path, candidate, evidence, chosen, onChoose, onArchive }: Props) {
  const { name, key, keep } = candidate;
  const keeping = useKeepFlag(path, candidate, !keep);
  return (
    <li className={classes.row}>
      <Checkbox
        aria-label={texts.choose(name)}
        checked={chosen}
        onChange={(event) => onChoose(event.currentTarget.checked)}
      />
      <div className={classes.content}>
        <div className={classes.head}>
          <AnchorLink
            fw={570}
            to="/projects/$projectId/environments/$environmentId/flags/$flagId"
            params={{ projectId: path.project_id, environmentId: path.env_id, flagId: candidate.id }}
          >
            {name}
          </AnchorLink>
          <code className={classes.key}>{key}</code>
          <Text span size="sm" c="dimmed">
            {candidate.owner === null ? texts.noOwner : texts.owner(candidate.owner)}
          </Text>
        </div>
        <Text>{reasonsInWords(candidate, evidence).join(" ")}</Text>
        <ul className={classes.alters} aria-label={texts.alters}>
          {consequences(candidate, evidence).map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
        <Tags tags={candidate.tags} most={5} />
      </div>
      <div className={classes.actions}>
        <CopyButton text={pullRequestText([candidate], evidence)} label={texts.copyText} />
        <GuardedButton
          variant="default"
          size="xs"
          needs="flags:write"
          label={keep ? texts.releaseLabel(name) : texts.keepLabel(name)}
          onClick={() => keeping.mutate(undefined, { onError: (error) => notifyRefused(texts.notKept(name), error) })}
        >
          {keep ? texts.release : texts.keep}
        </GuardedButton>
        <GuardedButton
          variant="default"
          size="xs"
          needs="flags:write"
          label={texts.archiveLabel(name)}
          onClick={onArchive}
        >
          {texts.archive}
        </GuardedButton>
      </div>
    </li>
  );
}
