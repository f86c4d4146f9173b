/** The flag's audience: its rules as sentences in their order, and the rollout for everyone else. */

import { VisuallyHidden } from "@mantine/core";
import { useRef, useState } from "react";
import type { Rule } from "../../api/client";
import { useReorderRules } from "../../api/rules";
import { notifyRefused } from "../../lib/notify";
import { reorder } from "./priorities";
import { draftOfRule, type FlagPlace } from "../../lib/flagPlace";
import { useDialog } from "../../lib/hooks/useDialog";
import { t } from "../../texts";
import { GuardedButton } from "../shared/GuardedButton";
import { IconPlus } from "../shared/icons";
import { RowsSkeleton } from "../shared/PageSkeleton";
import { Rollout } from "./Rollout";
import { RuleDialog } from "./RuleDialog";
import classes from "./RuleList.module.css";
import { RuleRow } from "./RuleRow";
import { SectionHeading } from "../shared/SectionHeading";

export function RuleList({ path, flag, rules }: FlagPlace & { readonly rules: readonly Rule[] | undefined }) {
  const addition = useDialog(draftOfRule(path));
  const add = useRef<HTMLButtonElement>(null);
  const [moved, setMoved] = useState("");
  const { mutate } = useReorderRules(path);
  const move = (from: number, to: number) => {
    const before = rules ?? [];
    mutate(
      { reordered: reorder(before, from, to), before },
      {
        onError: (error) => notifyRefused(t.rules.notMoved, error),
        onSuccess: () => setMoved(t.rules.moved(to + 1)),
      },
    );
  };
  return (
    <section aria-label={t.rules.heading}>
      <SectionHeading
        title={t.rules.heading}
        intro={t.rules.intro}
        action={
          <GuardedButton
            needs="rules:write"
            ref={add}
            variant="default"
            size="xs"
            leftSection={<IconPlus size={14} />}
            onClick={addition.open}
            flex="none"
          >
            {t.rules.add}
          </GuardedButton>
        }
      />
      <div className={classes.rules} data-off={!flag.enabled || undefined}>
        {rules === undefined ? (
          <RowsSkeleton rows={2} height={48} />
        ) : (
          rules.length > 0 && (
            <ol className={classes.list}>
              {rules.map((rule, index) => (
                <RuleRow
                  key={rule.id}
                  path={path}
                  flag={flag}
                  rules={rules}
                  rule={rule}
                  position={index}
                  count={rules.length}
                  onMove={move}
                  onDeleted={() => add.current?.focus()}
                />
              ))}
            </ol>
          )
        )}
        <Rollout path={path} flag={flag} rules={rules ?? []} />
      </div>
      <VisuallyHidden role="status">{moved}</VisuallyHidden>
      <RuleDialog path={path} flag={flag} rules={rules ?? []} {...addition.props} />
    </section>
  );
}
