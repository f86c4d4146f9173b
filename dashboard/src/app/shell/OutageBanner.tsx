/** Says that the server cannot be reached, since when, and how old the page is; and afterwards that it is back. */

import { Button } from "@mantine/core";
import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { check, onReturn, useOutage, watchConnection } from "../../api/outage";
import type { Outage } from "../../api/outageState";
import { notifyDone } from "../../api/notify";
import { lasting, timeOfDay } from "../../ui/time";
import { outage as texts } from "../../ui/outageTexts";
import classes from "./OutageBanner.module.css";

export function OutageBanner() {
  const outage = useOutage();
  useEffect(watchConnection, []);
  useEffect(() => onReturn(() => notifyDone(texts.back)), []);
  useEffect(() => {
    document.documentElement.toggleAttribute("data-outage", outage !== null); // the page loses its colour
  }, [outage]);
  return (
    <div className={outage ? classes.lost : undefined}>
      <div className={outage ? classes.banner : undefined}>
        {/* Always there, so that screen readers announce what appears in it; without the age, which changes. */}
        <div aria-live="polite">
          {outage && (
            <div role="status" className={classes.words}>
              {texts.lost(timeOfDay(outage.since, outage.since))}
            </div>
          )}
        </div>
        {outage && <Rest outage={outage} />}
      </div>
    </div>
  );
}

function Rest({ outage }: { outage: Outage }) {
  const cache = useQueryClient();
  const [shownAt] = useState(() => Math.max(outage.followedUntil, oldestShown(cache) ?? outage.since));
  const now = useEverySecond();
  return (
    <>
      <span className={classes.age}>
        {texts.age(lasting(now - shownAt))} {texts.trying}
      </span>
      <Button variant="default" size="compact-xs" className={classes.again} onClick={() => void check()}>
        {texts.tryNow}
      </Button>
    </>
  );
}

/** When the oldest data on the page was loaded, in milliseconds since 1970; null if it shows none. */
function oldestShown(cache: QueryClient): number | null {
  const moments = cache
    .getQueryCache()
    .findAll({ type: "active" })
    .map((query) => query.state.dataUpdatedAt)
    .filter((at) => at > 0);
  return moments.length > 0 ? Math.min(...moments) : null;
}

function useEverySecond(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
