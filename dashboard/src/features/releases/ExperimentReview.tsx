/** What an experiment is about to do, and how long it takes. */

import { Text, Title } from "@mantine/core";
import { useEffect, useRef } from "react";
import type { Flag } from "../../api/client";
import type { Metric } from "../metrics/metricsCalls";
import type { Outlook } from "./outlooksCalls";
import { releases } from "./releasesTexts";
import { experiments as texts } from "./experimentsTexts";
import { percent } from "../../ui/weights";
import classes from "./ExperimentForm.module.css";
import { type ExperimentDraft, movesUsers } from "./experiments";
import { OutlookList } from "./OutlookList";

interface Props {
  readonly flag: Flag;
  readonly draft: ExperimentDraft;
  readonly metrics: readonly Metric[];
  readonly outlook: Outlook;
}

export function ExperimentReview({ flag, draft, metrics, outlook }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const given = flag.variants
    .map(({ key }, place) => ({ key, weight: draft.weights[place] ?? 0 }))
    .filter(({ weight }) => weight > 0);
  const said = ({ key, weight }: { key: string; weight: number }) => releases.weight(key, percent(weight));
  const others = given.filter(({ key }) => key !== draft.control).map(said);
  const control = given.filter(({ key }) => key === draft.control).map(said);
  const names = draft.metrics.map((key) => metrics.find((each) => each.key === key)?.name ?? key);
  const lines = [
    texts.compares(others.join(", "), control.join(", ")),
    !flag.enabled && texts.turnsOn,
    flag.fallthrough === "off" && texts.usesWeights,
    movesUsers(flag, draft) ? texts.moves : texts.keeps,
    texts.watches[draft.action](names.join(", ")),
    releases.keysCount[draft.serverKeysOnly ? "server_keys" : "all"],
  ].filter((each) => each !== false);
  return (
    <>
      <div>
        <Title order={3} size="md" ref={heading} tabIndex={-1}>
          {texts.reviewHeading}
        </Title>
        <ul className={classes.review}>
          {lines.map((line) => (
            <li key={line} className="break">
              <Text size="sm" component="span">
                {line}
              </Text>
            </li>
          ))}
        </ul>
      </div>
      <OutlookList outlook={outlook} />
    </>
  );
}
