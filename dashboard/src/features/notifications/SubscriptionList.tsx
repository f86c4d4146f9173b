/** The subscriptions of the account in all projects, each of which can be removed. */

import { Button, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useRef } from "react";
import { allSubscriptionsQuery, type Subscription, useUnsubscribeFrom } from "./subscriptionsCalls";
import { notifyRefused } from "../../api/notify";
import { subscriptions as texts } from "./subscriptionsTexts";
import classes from "../../ui/ListRows.module.css";
import { RowsSkeleton } from "../../ui/PageSkeleton";
import { LoadFailed } from "../../ui/ProblemPage";
import { AnchorLink } from "../../ui/links";

export function SubscriptionList() {
  const { data, error, refetch } = useQuery(allSubscriptionsQuery);
  const { mutateAsync: remove } = useUnsubscribeFrom();
  const heading = useRef<HTMLHeadingElement>(null);
  const press = async (subscription: Subscription) => {
    try {
      await remove(subscription);
      heading.current?.focus(); // the pressed button is gone
    } catch (refusal) {
      notifyRefused(texts.refused, refusal);
    }
  };
  return (
    <Stack gap="md" mt="xl">
      <Title order={2} ref={heading} tabIndex={-1}>
        {texts.heading}
      </Title>
      <Text c="dimmed">{texts.intro}</Text>
      {error && !data && <LoadFailed error={error} onRetry={refetch} />}
      {!data && !error && <RowsSkeleton rows={2} height={56} />}
      {data?.length === 0 && <Text c="dimmed">{texts.none}</Text>}
      {data && data.length > 0 && (
        <ul className={classes.list} aria-label={texts.heading}>
          {data.map((each) => (
            <li key={each.id} className={classes.row}>
              <div className={classes.label}>
                <Subject subscription={each} />
                <span className={classes.details}>
                  {[
                    texts.kinds[each.kind],
                    each.kind === "flag" && each.environment !== null && texts.inEnvironment(each.environment),
                    each.kind === "flag" && each.flag_id === null && texts.deleted,
                    each.project,
                  ]
                    .filter(Boolean)
                    .join(" · ")}
                </span>
              </div>
              <Button
                variant="default"
                size="compact-sm"
                aria-label={texts.removeOf(nameOf(each))}
                onClick={() => void press(each)}
              >
                {texts.remove}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </Stack>
  );
}

const nameOf = ({ flag_key: key, tag, environment }: Subscription): string => key ?? tag ?? environment ?? "";

/** The name of what is subscribed to, as a link to its page. */
function Subject({ subscription }: { subscription: Subscription }) {
  const { project_id: projectId, environment_id: environmentId, flag_id: flagId, kind } = subscription;
  const name = nameOf(subscription);
  if (environmentId !== null && flagId !== null) {
    return (
      <AnchorLink
        to="/projects/$projectId/environments/$environmentId/flags/$flagId"
        params={{ projectId, environmentId, flagId }}
        className={classes.name}
      >
        {name}
      </AnchorLink>
    );
  }
  if (environmentId !== null && kind === "environment") {
    return (
      <AnchorLink
        to="/projects/$projectId/environments/$environmentId"
        params={{ projectId, environmentId }}
        className={classes.name}
      >
        {name}
      </AnchorLink>
    );
  }
  return <span className={classes.name}>{name}</span>;
}
