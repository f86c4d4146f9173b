/** The messages to a webhook, each with its attempts and the beginnings of their responses. */

import { Badge, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { deliveriesQuery, type Delivery, useRepeatDelivery, type Webhook } from "../../api/webhooks";
import { notifyDone, notifyRefused } from "../../lib/notify";
import { inFull } from "../../lib/time";
import { hostOf } from "../../lib/webhookDrafts";
import { webhooks as texts } from "../../texts/webhooks";
import classes from "../projects/Members.module.css";
import { GuardedButton } from "../shared/GuardedButton";
import { Pages } from "../shared/Pages";
import { When } from "../shared/When";

interface Props {
  readonly projectId: string;
  readonly webhook: Webhook;
}

const COLOURS = { waiting: "yellow.9", delivered: "live.8", failed: "alarm.8" } as const;

export function Deliveries({ projectId, webhook }: Props) {
  const query = useInfiniteQuery(deliveriesQuery(webhook));
  const items = query.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Pages query={query} count={items.length} empty={<Text c="dimmed">{texts.noDeliveries}</Text>}>
      <ul className={classes.list} aria-label={texts.deliveriesOf(hostOf(webhook))}>
        {items.map((each) => (
          <DeliveryRow key={each.id} projectId={projectId} webhookId={webhook.id} delivery={each} />
        ))}
      </ul>
    </Pages>
  );
}

interface RowProps {
  readonly projectId: string;
  readonly webhookId: string;
  readonly delivery: Delivery;
}

function DeliveryRow({ projectId, webhookId, delivery }: RowProps) {
  const { mutateAsync: repeat, isPending } = useRepeatDelivery(projectId, webhookId);
  const type = delivery.type ?? texts.unknownType;
  const again = () =>
    repeat(delivery.id).then(
      () => notifyDone(texts.repeated),
      (error: unknown) => notifyRefused(texts.repeat, error),
    );
  return (
    <li className={classes.row}>
      <div className={classes.who}>
        <span className={classes.email}>{type}</span>{" "}
        <Badge color={COLOURS[delivery.state]}>{texts.states[delivery.state]}</Badge>
        <span className={classes.roles}>
          <When at={delivery.created_at} /> · <span className="mono">{delivery.message_id}</span>
          {delivery.state === "waiting" && delivery.next_attempt_at !== null && (
            <>
              {" "}
              · {texts.next} <time dateTime={delivery.next_attempt_at}>{inFull(delivery.next_attempt_at)}</time>
            </>
          )}
        </span>
        {delivery.attempts.map((attempt, place) => (
          <span key={attempt.at} className={classes.roles}>
            {texts.attempt(place + 1)} <When at={attempt.at} />:{" "}
            {attempt.status === null ? attempt.error : texts.answered(attempt.status)} ·{" "}
            {texts.took(attempt.milliseconds)}
            {attempt.status !== null && (
              <Text component="span" className="mono break" size="xs" display="block">
                {attempt.answer === "" ? texts.noAnswer : attempt.answer}
              </Text>
            )}
          </span>
        ))}
      </div>
      {delivery.state !== "waiting" && (
        <GuardedButton
          needs="keys:rotate"
          variant="default"
          size="compact-sm"
          label={texts.repeatOf(type, delivery.message_id)}
          loading={isPending}
          onClick={() => void again()}
        >
          {texts.repeat}
        </GuardedButton>
      )}
    </li>
  );
}
