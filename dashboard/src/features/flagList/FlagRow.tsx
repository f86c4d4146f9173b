/** A flag in the list. */

import { Link } from "@tanstack/react-router";
import { type KeyboardEvent, memo, useEffect, useRef } from "react";
import { audienceInShort } from "../../ui/conditions/audience";
import { isShortcut } from "../../ui/singleKeys";
import type { Day, FlagRow as Row } from "./flagRows";
import { ago } from "../../ui/time";
import { flagsTexts } from "../flags/flagsTexts";
import { common } from "../../ui/commonTexts";
import { flagList as texts } from "../views/flagListTexts";
import { ChangedCell } from "./ChangedCell";
import { FavouriteStar } from "../views/FavouriteStar";
import classes from "./FlagTable.module.css";
import { Spark } from "./Spark";
import { Tags } from "../../ui/Tags";
import { StateSwitch } from "../flags/StateSwitch";
import { useNow } from "../../ui/When";
import { visibleProse } from "../../ui/givenText";
import { Given } from "../../ui/Given";

interface Props {
  readonly row: Row;
  readonly index: number;
  readonly top: number;
  /** Whether the user moved to this row by keyboard, so that it takes the focus when it appears. */
  readonly takesFocus: boolean;
  readonly onFocus: (flagId: string) => void;
  readonly on: RowActs;
  readonly isChosen: boolean;
  readonly isFavourite: boolean;
  /** The state of its open release, if it has one. */
  readonly release: string | undefined;
}

/** The actions in a row. */
export interface RowActs {
  readonly onSwitch: (row: Row, on: boolean) => void;
  readonly onChoose: (row: Row, wanted: boolean) => void;
  readonly onMark: (row: Row, wanted: boolean) => void;
  readonly onTag: (tag: string) => void;
}

export const FlagRow = memo(function FlagRow({ row, index, top, takesFocus, onFocus, on, release, ...is }: Props) {
  const { flag, rulesInForce, day, changedAt } = row;
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (takesFocus) link.current?.focus({ preventScroll: true });
  }, [takesFocus]);
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (event.key !== " " || !isShortcut(event.nativeEvent) || (event.target as Element).closest("button")) return;
    event.preventDefault();
    if (!event.repeat) on.onSwitch(row, !flag.enabled);
  };
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className={classes.row}
      data-off={!flag.enabled || undefined}
      style={{ transform: `translateY(${top}px)` }}
      onFocus={() => onFocus(flag.id)}
      onKeyDown={onKeyDown}
    >
      <div role="cell" className={classes.choice}>
        <input
          type="checkbox"
          aria-label={texts.choose(flag.name)}
          checked={is.isChosen}
          onChange={(event) => on.onChoose(row, event.currentTarget.checked)}
        />
      </div>
      <div role="cell" className={classes.state}>
        <StateSwitch
          needs="flags:write"
          on={flag.enabled}
          label={flagsTexts.switchLabel(flag.name)}
          onChange={(wanted) => on.onSwitch(row, wanted)}
        />
      </div>
      <div role="cell" className={classes.flag}>
        <div className={classes.name}>
          <Link
            ref={link}
            to="/projects/$projectId/environments/$environmentId/flags/$flagId"
            params={{ projectId: flag.project_id, environmentId: flag.environment_id, flagId: flag.id }}
            className={classes.link}
          >
            <Given text={flag.name} />
          </Link>
          <FavouriteStar name={flag.name} on={is.isFavourite} onChange={(wanted) => on.onMark(row, wanted)} />
        </div>
        <div className={classes.details}>
          <code className={classes.key}>{flag.key}</code>
          {release !== undefined && <ReleaseMark flag={flag} state={release} />}
          {flag.description && (
            <span className={classes.description} dir="auto">
              {visibleProse(flag.description)}
            </span>
          )}
          <Tags tags={flag.tags} most={TAGS_IN_A_ROW} onChoose={on.onTag} />
        </div>
      </div>
      <div role="cell" className={classes.audience}>
        {rulesInForce && audienceInShort(flag, rulesInForce)}
      </div>
      <div role="cell" className={classes.day}>
        {day && <LastDay day={day} />}
      </div>
      <div role="cell" className={classes.changed}>
        <ChangedCell flag={flag} at={changedAt} />
      </div>
    </div>
  );
});

/** Links to the open release. */
function ReleaseMark({ flag, state }: { flag: Row["flag"]; state: string }) {
  const words = texts.release[state] ?? state;
  return (
    <Link
      to="/projects/$projectId/environments/$environmentId/flags/$flagId"
      params={{ projectId: flag.project_id, environmentId: flag.environment_id, flagId: flag.id }}
      search={{ tab: "releases" }}
      aria-label={texts.releaseOf(flag.name, words)}
      className={classes.release}
      data-state={state}
    >
      {words}
    </Link>
  );
}

const TAGS_IN_A_ROW = 3;
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 0 });

function LastDay({ day }: { day: Day }) {
  const now = useNow();
  const all = day.on + day.off;
  if (day.lastSeen === null) return <span className={classes.quiet}>{flagsTexts.neverEvaluated}</span>;
  return (
    <>
      <Spark bars={day.bars} />
      <span className={classes.figures} title={flagsTexts.dayLabel(day.on, day.off)}>
        <span>
          {compact.format(all)} · {percent.format(day.on / all)} {common.on.toLowerCase()}
        </span>
        {/* Evaluations are counted by interval, so this is the end of the last one, or now. */}
        <span className={classes.seen}>{flagsTexts.lastSeen(ago(new Date(day.lastSeen).toISOString(), now))}</span>
      </span>
    </>
  );
}
