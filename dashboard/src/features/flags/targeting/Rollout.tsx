/** The choice for users whom no rule matches: the rollout decides, or the flag is off. */

import { Group, SegmentedControl, Text } from "@mantine/core";
import { lazy } from "react";
import type { Flag, FlagPath, Rule } from "../../../api/client";
import { useSetFlag } from "../flagsCalls";
import { DEFAULT_STICKINESS } from "../../../ui/conditions/audience";
import { notifyRefused } from "../../../api/notify";
import { useGuard } from "../../../ui/useGuard";
import { t } from "../../../texts";
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
        <Text>{hasRules ? t.rules.otherwise(audience) : audience}</Text>
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
      <Unfold label={t.rules.setRollout}>
        <PercentageCommand
          path={path}
          label={t.rules.setRollout}
          text={t.rules.setRolloutText}
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
    mutate({ from: flag, fields: { fallthrough } }, { onError: (error) => notifyRefused(t.rules.notSet, error) });
  return (
    <Group gap="xs" wrap="nowrap">
      <Text size="xs" c="dimmed" aria-hidden>
        {t.rules.elseLabel}
      </Text>
      <ReasonTooltip reason={reason}>
        <SegmentedControl
          size="xs"
          aria-label={t.rules.elseLabel}
          value={(isPending ? variables.fields.fallthrough : null) ?? flag.fallthrough}
          readOnly={reason !== null}
          opacity={reason === null ? 1 : 0.55}
          onChange={choose}
          data={(["rollout", "off"] as const).map((value) => ({ value, label: t.rules.elses[value] }))}
          {...attributes}
        />
      </ReasonTooltip>
    </Group>
  );
}

function audienceOf({ enabled, fallthrough, rollout_percentage: percentage }: Flag, hasRules: boolean): string {
  if (fallthrough === "off") return hasRules ? t.rules.off : t.rules.offForEveryone;
  return t.rules.rollout(enabled, percentage);
}

function noteOf({ fallthrough, rollout_percentage: percentage, stickiness, bucketing_key: key }: Flag): string {
  if (fallthrough === "off") return percentage === 0 ? t.rules.offNote : t.rules.offNoteRollout(percentage);
  if (percentage === 0) return t.rules.everyoneNote;
  const note = stickiness === DEFAULT_STICKINESS ? t.rules.rolloutNote : t.rules.stickinessNote(stickiness);
  return key === null ? note : `${note} ${t.rules.bucketingNote(key)}`;
}
