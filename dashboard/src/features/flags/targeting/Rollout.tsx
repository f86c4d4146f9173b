/** The choice for users whom no rule matches: the rollout decides, or the flag is off. */

import { Group, SegmentedControl, Text } from "@mantine/core";
import { lazy } from "react";
import type { Flag, FlagPath, Rule } from "../../../api/client";
import { useSetFlag } from "../flagsCalls";
import { DEFAULT_STICKINESS } from "../../../ui/conditions/audience";
import { notifyRefused } from "../../../api/notify";
import { useGuard } from "../../../ui/useGuard";
import { rulesTexts } from "../flagsTexts";
import { ReasonTooltip } from "../../../ui/ReasonTooltip";
import classes from "./RuleList.module.css";
import { Unfold } from "../../../ui/Unfold";

const PercentageCommand = lazy(() => import("./PercentageCommand"));

interface Props {
  readonly path: FlagPath;
  readonly flag: Flag;
  readonly rules: readonly Rule[];
}

export function Rollout({ path, flag, rules }: Props) {
  const percentage = flag.rollout_percentage;
  const hasRules = rules.length > 0;
  const audience = audienceOf(flag, hasRules);
  return (
    <div className={classes.rollout}>
      <Group justify="space-between" gap="xs">
        <Text>{hasRules ? rulesTexts.otherwise(audience) : audience}</Text>
        <Fallthrough path={path} flag={flag} />
      </Group>
      {flag.fallthrough === "rollout" && percentage > 0 && (
        <div className={classes.bar} aria-hidden>
          <div className={classes.filled} style={{ width: `${percentage}%` }} />
        </div>
      )}
      <Text size="xs" c="dimmed" className="break">
        {noteOf(flag)}
      </Text>
      <Unfold label={rulesTexts.setRollout}>
        <PercentageCommand
          path={path}
          label={rulesTexts.setRollout}
          text={rulesTexts.setRolloutText}
          start={Math.min(100, percentage + 10)}
          min={0}
          saved={percentage}
          draftOf={(each) => ({ ...flag, rollout_percentage: each, rules: [...rules] })}
        />
      </Unfold>
    </div>
  );
}

function Fallthrough({ path, flag }: Pick<Props, "path" | "flag">) {
  const { mutate, isPending, variables } = useSetFlag(path);
  const { reason, attributes } = useGuard({ needs: "flags:write" });
  const choose = (fallthrough: Flag["fallthrough"]) =>
    mutate({ from: flag, fields: { fallthrough } }, { onError: (error) => notifyRefused(rulesTexts.notSet, error) });
  return (
    <Group gap="xs" wrap="nowrap">
      <Text size="xs" c="dimmed" aria-hidden>
        {rulesTexts.elseLabel}
      </Text>
      <ReasonTooltip reason={reason}>
        <SegmentedControl
          size="xs"
          aria-label={rulesTexts.elseLabel}
          value={(isPending ? variables.fields.fallthrough : null) ?? flag.fallthrough}
          readOnly={reason !== null}
          opacity={reason === null ? 1 : 0.55}
          onChange={choose}
          data={(["rollout", "off"] as const).map((value) => ({ value, label: rulesTexts.elses[value] }))}
          {...attributes}
        />
      </ReasonTooltip>
    </Group>
  );
}

function audienceOf({ enabled, fallthrough, rollout_percentage: percentage }: Flag, hasRules: boolean): string {
  if (fallthrough === "off") return hasRules ? rulesTexts.off : rulesTexts.offForEveryone;
  return rulesTexts.rollout(enabled, percentage);
}

function noteOf({ fallthrough, rollout_percentage: percentage, stickiness, bucketing_key: key }: Flag): string {
  if (fallthrough === "off") return percentage === 0 ? rulesTexts.offNote : rulesTexts.offNoteRollout(percentage);
  if (percentage === 0) return rulesTexts.everyoneNote;
  const note = stickiness === DEFAULT_STICKINESS ? rulesTexts.rolloutNote : rulesTexts.stickinessNote(stickiness);
  return key === null ? note : `${note} ${rulesTexts.bucketingNote(key)}`;
}
