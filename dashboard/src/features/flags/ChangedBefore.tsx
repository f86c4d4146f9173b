/** The message that a flag was not turned on because others have changed it, with what they changed and a button. */

import { Button, Stack, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useQuery } from "@tanstack/react-query";
import type { EnvironmentPath, Flag } from "../../api/client";
import { lastChangeQuery } from "../../ui/changes/lastChange";
import type { State } from "../../api/states";
import { fieldChanges } from "../../ui/changes/changes";
import type { Fields } from "../../api/equal";
import { changed as texts } from "../../ui/editing/changedTexts";
import { ChangedFields } from "../../ui/changes/ChangedFields";

interface Props {
  readonly path: EnvironmentPath;
  /** The flag as it was shown. */
  readonly seen: object;
  readonly state: State;
  readonly turnOn: (flag: Flag) => void;
  readonly onUsed: () => void;
}

/** Asks whether to turn the flag on as it is now. */
export function ask(
  path: EnvironmentPath,
  seen: object & { readonly id: string },
  state: State,
  turnOn: (flag: Flag) => void,
): void {
  const id = `changed-${seen.id}`;
  notifications.hide(id);
  notifications.show({
    id,
    title: texts.notSwitched(String(state.resource.name)),
    message: (
      <ChangedBefore path={path} seen={seen} state={state} turnOn={turnOn} onUsed={() => notifications.hide(id)} />
    ),
    color: "yellow",
    autoClose: false,
  });
}

function ChangedBefore({ path, seen, state, turnOn, onUsed }: Props) {
  const flag = state.resource as Flag & Fields;
  const { data } = useQuery(lastChangeQuery(path.project_id, flag.id, state));
  const fields = fieldChanges(comparable(seen as Fields, flag));
  const switchOn = (): void => {
    turnOn(flag);
    onUsed();
  };
  return (
    <Stack gap="xs" align="start">
      <Text size="sm" className="break">
        {texts.since(
          state.by ?? data ?? texts.someone,
          fields.length > 0 ? fields.map(({ field }) => texts.field(field)) : [texts.something],
        )}
      </Text>
      <ChangedFields fields={fields} />
      <Button variant="default" size="compact-sm" onClick={switchOn}>
        {texts.switchAnyway}
      </Button>
    </Stack>
  );
}

/** The fields that both have, because a table has only the number of a flag's variants. */
function comparable(seen: Fields, now: Fields): { before: Fields; after: Fields } {
  const isAlike = (field: string) => field !== "enabled" && typeof seen[field] === typeof now[field];
  const fields = Object.keys(seen).filter((field) => field in now && isAlike(field));
  const pick = (all: Fields) => Object.fromEntries(fields.map((field) => [field, all[field]]));
  return { before: pick(seen), after: pick(now) };
}
