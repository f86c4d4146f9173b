/** One rule, as a sentence; with its switch, its place, and what can be done with it. */

import { ActionIcon, Menu, Modal, Button, Group, Stack, Text, Tooltip } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useState } from "react";
import type { FlagPath, Rule } from "../api/client";
import { lineOf } from "../api/problem";
import { useDeleteRule, useUpdateRule } from "../api/rules";
import { ruleInWords } from "../lib/audience";
import { notifyRefused } from "../lib/notify";
import { t } from "../texts";
import { IconArrowDown, IconArrowUp, IconDots, IconPencil, IconTrash } from "./icons";
import { Refusal } from "./Refusal";
import { RuleDialog } from "./RuleDialog";
import classes from "./RuleList.module.css";
import { StateSwitch } from "./StateSwitch";

interface Props {
  readonly path: FlagPath;
  readonly rule: Rule;
  readonly position: number;
  readonly count: number;
  readonly isMoving: boolean;
  readonly onMove: (from: number, to: number) => void;
}

export function RuleRow({ path, rule, position, count, isMoving, onMove }: Props) {
  const { mutate } = useUpdateRule(path);
  const sentence = ruleInWords(rule);
  const switchTo = (enabled: boolean) =>
    mutate({ id: rule.id, enabled }, { onError: (error) => notifyRefused(t.rules.notChanged, error) });
  return (
    <li className={classes.rule} data-off={!rule.enabled || undefined}>
      <span className={classes.position} aria-hidden>
        {position + 1}
      </span>
      <span className={classes.sentence}>
        {t.rules.sentence[rule.rule_type]} <code className={classes.value}>{rule.rule_value}</code>, {t.rules.thenOn}
        {!rule.enabled && <span className={classes.off}> ({t.rules.switchedOff})</span>}
        <span className={classes.priority}>{t.rules.priorityOf(rule.priority)}</span>
      </span>
      <span className={classes.tools}>
        {count > 1 && (
          <>
            <Tooltip label={t.rules.moveUp}>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={t.rules.moveUpOf(sentence)}
                disabled={position === 0 || isMoving}
                onClick={() => onMove(position, position - 1)}
              >
                <IconArrowUp size={16} />
              </ActionIcon>
            </Tooltip>
            <Tooltip label={t.rules.moveDown}>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={t.rules.moveDownOf(sentence)}
                disabled={position === count - 1 || isMoving}
                onClick={() => onMove(position, position + 1)}
              >
                <IconArrowDown size={16} />
              </ActionIcon>
            </Tooltip>
          </>
        )}
        <StateSwitch on={rule.enabled} label={t.rules.switchLabel(sentence)} onChange={switchTo} />
        <RuleMenu path={path} rule={rule} />
      </span>
    </li>
  );
}

function RuleMenu({ path, rule }: Pick<Props, "path" | "rule">) {
  const [editing, edit] = useDisclosure(false);
  const [deleting, remove] = useDisclosure(false);
  return (
    <>
      <Menu position="bottom-end" width={140} shadow="md">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={t.rules.actions(ruleInWords(rule))}>
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconPencil size={16} />} onClick={edit.open}>
            {t.rules.edit}
          </Menu.Item>
          <Menu.Item leftSection={<IconTrash size={16} />} c="var(--mantine-color-error)" onClick={remove.open}>
            {t.rules.delete}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <RuleDialog path={path} rules={[]} rule={rule} opened={editing} onClose={edit.close} />
      <Modal opened={deleting} onClose={remove.close} title={t.rules.deleteHeading}>
        <Deletion path={path} rule={rule} onClose={remove.close} />
      </Modal>
    </>
  );
}

function Deletion({ path, rule, onClose }: Pick<Props, "path" | "rule"> & { readonly onClose: () => void }) {
  const [refusal, setRefusal] = useState<string | null>(null);
  const { mutate, isPending } = useDeleteRule(path);
  const confirm = () => mutate(rule.id, { onError: (error) => setRefusal(lineOf(error)), onSuccess: onClose });
  return (
    <Stack gap="md">
      <Text className="break">
        {ruleInWords(rule)}. {t.deletion.rule}
      </Text>
      <Refusal text={refusal} />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose} data-autofocus>
          {t.cancel}
        </Button>
        <Button color="alarm.7" onClick={confirm} loading={isPending}>
          {t.delete}
        </Button>
      </Group>
    </Stack>
  );
}
