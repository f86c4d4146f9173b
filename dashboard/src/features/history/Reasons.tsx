/** The number of times that each reason was given. */

import { Text } from "@mantine/core";
import type { ReasonCount } from "./series";
import { charts as texts } from "./chartsTexts";
import classes from "./History.module.css";

export function Reasons({ reasons }: { reasons: readonly ReasonCount[] }) {
  const most = Math.max(1, ...reasons.map((each) => each.count));
  return (
    <div>
      <Text size="xs" c="dimmed" mb={6}>
        {texts.reasons}
      </Text>
      <ul className={classes.reasons}>
        {reasons.map(({ reason, count, isOff }) => (
          <li key={reason} className={classes.reason} data-off={isOff || undefined}>
            <span className="break">{reason}</span>
            <span className="numbers">{count.toLocaleString("en")}</span>
            <span className={classes.track} aria-hidden>
              <span className={classes.share} style={{ display: "block", width: `${(count / most) * 100}%` }} />
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
