/** A flag in all environments of its project: a tile for each, which links to the flag there. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { flagSummaryQuery } from "./flagSummariesCalls";
import { type FlagInBrief, flagsOfKeyQuery } from "../flags/projectFlagsCalls";
import type { FlagPlace } from "../../api/flagPlace";
import { audienceOf, flagIn } from "../flags/projectFlags";
import { type Tab, toFlagPage } from "../../ui/search";
import { showCurrent } from "./showCurrent";
import { useEnvironments } from "../../ui/useHere";
import { common } from "../../ui/commonTexts";
import { BY_KEY } from "../flags/useShownFlag";
import { environmentStrip as texts } from "./environmentStripTexts";
import { EnvironmentBadge } from "../projects/EnvironmentBadge";
import classes from "./EnvironmentStrip.module.css";

const ENVIRONMENT = "/projects/$projectId/environments/$environmentId";

interface Props extends Pick<FlagPlace, "project" | "environment" | "flag"> {
  /** The tab that is kept in the other environments. */
  readonly tab: Tab | undefined;
}

export function EnvironmentStrip({ project, environment, flag, tab }: Props) {
  const environments = useEnvironments();
  const { data: row } = useQuery(flagsOfKeyQuery(project.id, flag.key));
  const { data: lastDay } = useQuery(flagSummaryQuery(project.id, flag.key));
  const strip = useRef<HTMLElement>(null);
  useEffect(() => showCurrent(strip.current), [environment.id]);
  return (
    <nav ref={strip} aria-label={texts.label} className={classes.strip}>
      <div className={classes.tiles}>
        {environments.map((each) => (
          <div key={each.id}>
            <Tile
              projectId={project.id}
              environment={each}
              flagKey={flag.key}
              flag={row && flagIn(row, each)}
              isKnown={row !== undefined}
              isHere={each.id === environment.id}
              lastDay={lastDay?.environments.find(({ environment_id: id }) => id === each.id)}
              tab={tab}
            />
          </div>
        ))}
      </div>
    </nav>
  );
}

interface TileProps extends Pick<Props, "environment" | "tab"> {
  readonly projectId: string;
  readonly flagKey: string;
  readonly flag: FlagInBrief | null | undefined;
  readonly isKnown: boolean;
  readonly isHere: boolean;
  /** How often the flag was on and off; undefined if that is not known. */
  readonly lastDay: { readonly on: number; readonly off: number } | undefined;
}

function Tile({ projectId, environment, flagKey, flag, isKnown, isHere, lastDay, tab }: TileProps) {
  const params = { projectId, environmentId: environment.id };
  const isLive = flag?.archived_at === null;
  const state = flag ? (isLive ? (flag.enabled ? common.on : common.off) : texts.archived) : texts.missing;
  const link = {
    className: classes.tile,
    search: toFlagPage({ tab }),
    "aria-current": isHere && ("page" as const),
    children: (
      <>
        <EnvironmentBadge environment={environment} />
        <span className={classes.state} data-on={(isLive && flag.enabled) || undefined}>
          {isKnown && state}
        </span>
        <span className={classes.words}>{isLive && inWords(flag)}</span>
        <span className={classes.words}>{isLive && lastDay && lastDayInWords(lastDay)}</span>
      </>
    ),
  };
  return flag ? (
    <Link to={`${ENVIRONMENT}/flags/$flagId`} params={{ ...params, flagId: flag.id }} {...link} />
  ) : (
    <Link to={BY_KEY} params={{ ...params, flagKey }} {...link} />
  );
}

function inWords(flag: FlagInBrief): string {
  return flag.enabled ? audienceOf(flag) : texts.whenOn(audienceOf(flag));
}

const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 0 });

function lastDayInWords({ on, off }: { readonly on: number; readonly off: number }): string {
  const all = on + off;
  return all === 0 ? texts.notEvaluated : texts.lastDay(compact.format(all), percent.format(on / all));
}
