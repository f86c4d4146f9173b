/** The flag's audience: its rules as sentences in their order, and the rollout for everyone else. */

import { TextInput, VisuallyHidden } from "@mantine/core";
import { useDeferredValue, useRef, useState } from "react";
import type { Rule } from "../../../api/client";
import { useDeleteRule, useReorderRules } from "../rulesCalls";
import { ruleInWords } from "../../../ui/conditions/audience";
import { notifyRefused } from "../../../api/notify";
import { reorder } from "./priorities";
import { draftOfRule, type FlagPlace } from "../../../api/flagPlace";
import { useDialog } from "../../../ui/useDialog";
import { useRowDialog } from "../../../ui/useRowDialog";
import { rulesTexts } from "../flagsTexts";
import { GuardedButton } from "../../../ui/GuardedButton";
import { IconPlus, IconSearch } from "../../../ui/icons";
import { lateDialog } from "../../../ui/lateDialog";
import { RowsSkeleton } from "../../../ui/PageSkeleton";
import { Rollout } from "./Rollout";
import { RuleDialog } from "./RuleDialog";
import classes from "./RuleList.module.css";
import { RuleRow } from "./RuleRow";
import { SectionHeading } from "../../../ui/SectionHeading";
import { WindowedList } from "../../../ui/WindowedList";

const ConfirmDialog = lateDialog(() => import("../../../ui/ConfirmDialog").then((module) => module.ConfirmDialog));

/** The rules from which on they can be searched. */
const SEARCHED_FROM = 10;
const USUAL_HEIGHT = 53;

export function RuleList({ path, flag, rules }: FlagPlace & { readonly rules: readonly Rule[] | undefined }) {
  const addition = useDialog(draftOfRule(path));
  const editing = useRowDialog(rules, (rule) => draftOfRule(path, rule));
  const deletion = useRowDialog(rules);
  const add = useRef<HTMLButtonElement>(null);
  const [moved, setMoved] = useState("");
  const [typed, setTyped] = useState("");
  const sought = useDeferredValue(typed.trim().toLowerCase());
  const { mutate } = useReorderRules(path);
  const { mutateAsync } = useDeleteRule(path);
  const move = (from: number, to: number) => {
    const before = rules ?? [];
    mutate(
      { reordered: reorder(before, from, to), before },
      {
        onError: (error) => notifyRefused(rulesTexts.notMoved, error),
        onSuccess: () => setMoved(rulesTexts.moved(to + 1)),
      },
    );
  };
  const remove = async (tag: string | null) => {
    if (deletion.row) await mutateAsync({ id: deletion.row.id, tag });
    deletion.props.onClose();
    add.current?.focus();
  };
  const placed = (rules ?? []).map((rule, position) => ({ rule, position }));
  const shown = sought === "" ? placed : placed.filter(({ rule }) => ruleInWords(rule).toLowerCase().includes(sought));
  return (
    <section aria-label={rulesTexts.heading}>
      <SectionHeading
        title={rulesTexts.heading}
        intro={rulesTexts.intro}
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
            {rulesTexts.add}
          </GuardedButton>
        }
      />
      {placed.length >= SEARCHED_FROM && (
        <TextInput
          mb="xs"
          maw={320}
          type="search"
          aria-label={rulesTexts.search}
          placeholder={rulesTexts.search}
          leftSection={<IconSearch size={16} />}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      )}
      <div className={classes.rules} data-off={!flag.enabled || undefined}>
        {rules === undefined ? (
          <RowsSkeleton rows={2} height={48} />
        ) : (
          shown.length > 0 && (
            <WindowedList rows={shown} height={USUAL_HEIGHT} keyOf={idOf}>
              {({ rule, position }) => (
                <RuleRow
                  path={path}
                  flag={flag}
                  rule={rule}
                  position={position}
                  count={rules.length}
                  onMove={move}
                  onEdit={editing.open}
                  onDelete={deletion.open}
                />
              )}
            </WindowedList>
          )
        )}
        {sought !== "" && shown.length === 0 && <p className={classes.nothing}>{rulesTexts.notFound}</p>}
        <Rollout path={path} flag={flag} rules={rules ?? []} />
      </div>
      <VisuallyHidden role="status">{moved}</VisuallyHidden>
      <VisuallyHidden role="status">{sought !== "" && rulesTexts.found(shown.length, placed.length)}</VisuallyHidden>
      <RuleDialog path={path} flag={flag} rules={rules ?? []} {...addition.props} />
      <RuleDialog
        path={path}
        flag={flag}
        rules={rules ?? []}
        {...(editing.row && { rule: editing.row })}
        {...editing.props}
      />
      {deletion.row && (
        <ConfirmDialog
          key={deletion.row.id}
          title={rulesTexts.deleteHeading}
          consequence={`${ruleInWords(deletion.row)}. ${rulesTexts.deletion}`}
          of={{ projectId: path.project_id, id: deletion.row.id, resource: deletion.row }}
          onConfirm={remove}
          {...deletion.props}
        />
      )}
    </section>
  );
}

function idOf({ rule }: { readonly rule: Rule }): string {
  return rule.id;
}
