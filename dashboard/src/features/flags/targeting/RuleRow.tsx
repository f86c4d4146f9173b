/** A rule as a sentence, with its switch, its position and its actions. */

import { type MouseEvent, useLayoutEffect, useRef } from "react";
import type { Flag, FlagPath, Rule } from "../../../api/client";
import { useSwitchRule } from "../rulesCalls";
import { ruleInWords } from "../../../ui/conditions/audience";
import { ruleParts } from "../../../ui/conditions/conditions";
import { notifyRefused } from "../../../api/notify";
import { rulesTexts } from "../flagsTexts";
import { Given } from "../../../ui/Given";
import { EditMenu } from "../../../ui/EditMenu";
import { IconButton } from "../../../ui/IconButton";
import { IconArrowDown, IconArrowUp } from "../../../ui/icons";
import { Parts } from "../../../ui/Parts";
import classes from "./RuleList.module.css";
import { StateSwitch } from "../StateSwitch";

interface Props {
  readonly path: FlagPath;
  readonly flag: Flag;
  readonly rule: Rule;
  readonly position: number;
  readonly count: number;
  readonly onMove: (from: number, to: number) => void;
  readonly onEdit: (rule: Rule) => void;
  readonly onDelete: (rule: Rule) => void;
}

export function RuleRow({ path, flag, rule, position, count, onMove, onEdit, onDelete }: Props) {
  const { mutate } = useSwitchRule(path);
  const keepFocus = useKeptFocus(position);
  const sentence = ruleInWords(rule);
  const switchTo = (enabled: boolean) =>
    mutate({ id: rule.id, enabled, from: rule }, { onError: (error) => notifyRefused(rulesTexts.notChanged, error) });
  const moveTo = (to: number) => (event: MouseEvent<HTMLButtonElement>) => {
    keepFocus(event.currentTarget);
    onMove(position, to);
  };
  return (
    <div className={classes.rule} data-off={!rule.enabled || undefined}>
      <span className={classes.position} aria-hidden>
        {position + 1}
      </span>
      <div className={classes.sentence}>
        {rule.name && (
          <span className={classes.name}>
            <Given text={rule.name} />
          </span>
        )}
        {!rule.enabled && <span className={classes.off}>{rulesTexts.switchedOff} </span>}
        <Parts parts={ruleParts(rule)} />
        {rulesTexts.then(flag.enabled && rule.enabled, rule.rollout_percentage)}
        {rule.variant !== null && rulesTexts.withVariant(rule.variant)}
      </div>
      <span className={classes.tools}>
        {count > 1 && (
          <>
            <IconButton
              hint={rulesTexts.moveUp}
              label={rulesTexts.moveUpOf(sentence)}
              needs="rules:write"
              idle={position === 0}
              onClick={moveTo(position - 1)}
            >
              <IconArrowUp size={16} />
            </IconButton>
            <IconButton
              hint={rulesTexts.moveDown}
              label={rulesTexts.moveDownOf(sentence)}
              needs="rules:write"
              idle={position === count - 1}
              onClick={moveTo(position + 1)}
            >
              <IconArrowDown size={16} />
            </IconButton>
          </>
        )}
        <StateSwitch
          needs="rules:write"
          on={rule.enabled}
          label={rulesTexts.switchLabel(sentence)}
          onChange={switchTo}
        />
        <EditMenu
          needs="rules:write"
          label={rulesTexts.actions(sentence)}
          onEdit={() => onEdit(rule)}
          onDelete={() => onDelete(rule)}
        />
      </span>
    </div>
  );
}

/** A row that moves in the page loses the focus, so the pressed button gets it back. */
function useKeptFocus(position: number) {
  const pressed = useRef<HTMLElement | null>(null);
  useLayoutEffect(() => {
    pressed.current?.focus();
    pressed.current = null;
  }, [position]);
  return (element: HTMLElement) => {
    pressed.current = element;
  };
}
