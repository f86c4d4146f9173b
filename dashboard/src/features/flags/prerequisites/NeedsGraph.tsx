/** Prerequisites as a graph of links. Screen readers get a list in which every flag says what it needs. */

import { VisuallyHidden } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useLayoutEffect, useRef } from "react";
import type { EnvironmentPath, Flag } from "../../../api/client";
import { prerequisiteInWords } from "../../../ui/conditions/audience";
import { needsOf } from "./needs";
import { layOut, type Line, NODE } from "./needsLayout";
import { prerequisitesTexts } from "./prerequisitesTexts";
import { common } from "../../../ui/commonTexts";
import { conditionsTexts } from "../../../ui/conditions/conditionsTexts";
import classes from "./NeedsGraph.module.css";

interface Props {
  readonly path: EnvironmentPath;
  readonly flags: readonly Flag[];
  /** The key of the flag whose page this is. */
  readonly current: string;
}

export function NeedsGraph({ path, flags, current }: Props) {
  const graph = needsOf(flags, current);
  const { width, height, spots, lines, left } = layOut(graph);
  const byKey = new Map(flags.map((each) => [each.key, each]));
  const here = spots.find((each) => each.key === current)?.left ?? 0;
  const scroll = useScrolledTo(here + NODE.width / 2);
  return (
    <figure className={classes.figure}>
      {/* Focusable, because scrollable content must be scrollable by keyboard. */}
      <section ref={scroll} className={classes.scroll} tabIndex={0} aria-label={prerequisitesTexts.graph}>
        <div className={classes.graph} style={{ width, height }}>
          <Lines lines={lines} width={width} height={height} />
          <ul className={classes.nodes}>
            {spots.map(({ key, ...spot }) => (
              <li key={key} className={classes.spot} style={{ ...spot, ...NODE }}>
                <Node path={path} flag={byKey.get(key)} flagKey={key} isCurrent={key === current} />
                <VisuallyHidden>
                  {wordsOf(lines.filter(({ need }) => need.needing === key).map(({ need }) => need.prerequisite))}
                </VisuallyHidden>
              </li>
            ))}
          </ul>
        </div>
      </section>
      <figcaption className={classes.caption}>
        {prerequisitesTexts.legend} {left > 0 && prerequisitesTexts.more(left)}
      </figcaption>
    </figure>
  );
}

/** Scrolls so that a place, in pixels from the left, is in the middle. */
function useScrolledTo(middle: number) {
  const scroll = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    if (scroll.current) scroll.current.scrollLeft = middle - scroll.current.clientWidth / 2;
  }, [middle]);
  return scroll;
}

interface NodeProps {
  readonly path: EnvironmentPath;
  readonly flag: Flag | undefined;
  readonly flagKey: string;
  readonly isCurrent: boolean;
}

function Node({ path, flag, flagKey, isCurrent }: NodeProps) {
  const content = (
    <>
      {flag && <span className={classes.state} data-on={flag.enabled || undefined} aria-hidden />}
      <span className={classes.key}>{flagKey}</span>
      {flag && <VisuallyHidden>({flag.enabled ? common.on : common.off})</VisuallyHidden>}
    </>
  );
  if (isCurrent || !flag) {
    return (
      <span className={classes.node} data-current={isCurrent || undefined} title={flagKey}>
        {content}
      </span>
    );
  }
  return (
    <Link
      to="/projects/$projectId/environments/$environmentId/flags/$flagId"
      params={{ projectId: path.project_id, environmentId: path.env_id, flagId: flag.id }}
      className={classes.node}
      title={flag.name}
    >
      {content}
    </Link>
  );
}

function Lines({ lines, width, height }: { lines: readonly Line[]; width: number; height: number }) {
  return (
    <div aria-hidden>
      <svg className={classes.lines} width={width} height={height}>
        {lines.map(({ need, path }) => (
          <path
            key={`${need.needed} ${need.needing}`}
            d={path}
            className={classes.line}
            data-off={need.prerequisite.enabled === false || undefined}
          />
        ))}
      </svg>
      {lines.map(({ need, label }) => (
        <span
          key={`${need.needed} ${need.needing}`}
          className={classes.label}
          style={label}
          title={labelOf(need.prerequisite)}
        >
          {labelOf(need.prerequisite)}
        </span>
      ))}
    </div>
  );
}

function labelOf({ enabled = true, variants = [] }: Flag["prerequisites"][number]): string {
  if (variants.length > 0) return variants.join(", ");
  return enabled ? prerequisitesTexts.edge.on : prerequisitesTexts.edge.off;
}

function wordsOf(needed: Flag["prerequisites"]): string {
  return needed.length === 0 ? "" : prerequisitesTexts.needs(needed.map(prerequisiteInWords).join(conditionsTexts.and));
}
