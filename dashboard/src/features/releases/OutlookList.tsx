/** How long each guard of a release takes to find a harm, and what it cannot find. The server says it in words. */

import { Text } from "@mantine/core";
import type { Outlook } from "./outlooksCalls";
import { experiments as texts } from "./experimentsTexts";
import classes from "./OutlookList.module.css";

export function OutlookList({ outlook }: { outlook: Outlook }) {
  if (outlook.guards.length === 0) return null;
  return (
    <section aria-label={texts.outlook}>
      <Text size="sm" fw={570}>
        {texts.outlook}
      </Text>
      <ul className={classes.list}>
        {outlook.guards.map(({ metric, words }) => (
          <li key={metric} className="break">
            <Text size="sm" component="span">
              {words}
            </Text>
          </li>
        ))}
      </ul>
    </section>
  );
}
