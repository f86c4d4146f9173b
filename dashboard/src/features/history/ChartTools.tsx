/** Narrows, widens and moves the time of a chart, and copies the link to it. The time is in the URL. */

import { Button, Group } from "@mantine/core";
import { useLocation } from "@tanstack/react-router";
import { isLongest, isShortest, moved, type Span, zoomedIn, zoomedOut } from "../../ui/charts/chartTimes";
import { charts as texts } from "./chartsTexts";
import { CopyButton } from "../../ui/CopyButton";
import { IconButton } from "../../ui/IconButton";
import { ChartIcon } from "./chartIcons";
import { serverAddress } from "../../api/server";

interface Props {
  /** The span that the chart shows, or will show. */
  readonly shown: Span;
  readonly isZoomed: boolean;
  /** True if the span ends now, so that nothing is later. */
  readonly isLatest: boolean;
  readonly onSpan: (span: Span) => void;
  readonly onReset: () => void;
}

export function ChartTools({ shown, isZoomed, isLatest, onSpan, onReset }: Props) {
  const href = useLocation({ select: (location) => location.href });
  const to = (change: (span: Span, now: number) => Span) => () => onSpan(change(shown, Date.now()));
  return (
    <Group gap={4} role="group" aria-label={texts.tools}>
      <IconButton hint={texts.earlier} onClick={to((span, now) => moved(span, 1, now))}>
        <ChartIcon name="earlier" />
      </IconButton>
      <IconButton hint={texts.later} idle={isLatest} onClick={to((span, now) => moved(span, -1, now))}>
        <ChartIcon name="later" />
      </IconButton>
      <IconButton hint={texts.zoomIn} idle={isShortest(shown)} onClick={to(zoomedIn)}>
        <ChartIcon name="zoomIn" />
      </IconButton>
      <IconButton hint={texts.zoomOut} idle={isLongest(shown)} onClick={to(zoomedOut)}>
        <ChartIcon name="zoomOut" />
      </IconButton>
      {isZoomed && (
        <Button variant="default" size="xs" onClick={onReset}>
          {texts.reset}
        </Button>
      )}
      <CopyButton text={serverAddress() + href} label={texts.copyLink} />
    </Group>
  );
}
