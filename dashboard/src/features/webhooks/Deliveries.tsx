/** The messages to a webhook, each with its body, its attempts and the beginnings of their responses. */

import { Badge, Group, NativeSelect, Text } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  deliveriesQuery,
  type Delivery,
  deliveryQuery,
  type DeliveryState,
  type Place,
  useRepeatDelivery,
  type Webhook,
} from "./webhooksCalls";
import { notifyDone, notifyRefused } from "../../api/notify";
import { inFull } from "../../ui/time";
import { hostOf } from "./webhookDrafts";
import { webhooks as texts } from "./webhooksTexts";
import classes from "../../ui/ListRows.module.css";
import { GuardedButton } from "../../ui/GuardedButton";
import { IconTerminal } from "../../ui/icons";
import { Pages } from "../../ui/Pages";
import { RowsSkeleton } from "../../ui/PageSkeleton";
import { LoadFailed } from "../../ui/ProblemPage";
import { Unfold } from "../../ui/Unfold";
import { When } from "../../ui/When";
import { MessageBody } from "./MessageBody";

interface Props {
  readonly place: Place;
  readonly webhook: Webhook;
}

const COLOURS = { waiting: "yellow.9", delivered: "live.8", failed: "alarm.8" } as const;
const STATES: readonly DeliveryState[] = ["waiting", "delivered", "failed"];

export function Deliveries({ place, webhook }: Props) {
  const [state, setState] = useState<DeliveryState | null>(null);
  const query = useInfiniteQuery(deliveriesQuery(webhook, state));
  const items = query.data?.pages.flatMap((page) => page.items) ?? [];
  const host = hostOf(webhook);
  return (
    <>
      <Group mb="xs">
        <NativeSelect
          aria-label={texts.stateOf(host)}
          size="xs"
          value={state ?? ""}
          data={[
            { value: "", label: texts.allStates },
            ...STATES.map((value) => ({ value, label: texts.states[value] })),
          ]}
          onChange={({ currentTarget: { value } }) => setState(STATES.find((each) => each === value) ?? null)}
        />
      </Group>
      <Pages query={query} count={items.length} empty={<Text c="dimmed">{texts.noDeliveries(state)}</Text>}>
        <ul className={classes.list} aria-label={texts.deliveriesOf(host)}>
          {items.map((each) => (
            <DeliveryRow key={each.id} place={place} webhookId={webhook.id} delivery={each} />
          ))}
        </ul>
      </Pages>
    </>
  );
}

interface RowProps {
  readonly place: Place;
  readonly webhookId: string;
  readonly delivery: Delivery;
}

function DeliveryRow({ place, webhookId, delivery }: RowProps) {
  const { mutateAsync: repeat, isPending } = useRepeatDelivery(place, webhookId);
  const type = delivery.type ?? texts.unknownType;
  const again = () =>
    repeat(delivery.id).then(
      () => notifyDone(texts.repeated),
      (error: unknown) => notifyRefused(texts.repeat, error),
    );
  return (
    <li className={classes.row}>
      <div className={classes.label}>
        <span className={classes.name}>{type}</span>{" "}
        <Badge color={COLOURS[delivery.state]}>{texts.states[delivery.state]}</Badge>
        <span className={classes.details}>
          <When at={delivery.created_at} /> · <span className="mono">{delivery.message_id}</span>
          {delivery.state === "waiting" && delivery.next_attempt_at !== null && (
            <>
              {" "}
              · {texts.next} <time dateTime={delivery.next_attempt_at}>{inFull(delivery.next_attempt_at)}</time>
            </>
          )}
        </span>
        {delivery.attempts.map((attempt, place) => (
          <span key={attempt.at} className={classes.details}>
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
          needs="webhooks:write"
          variant="default"
          size="compact-sm"
          label={texts.repeatOf(type, delivery.message_id)}
          loading={isPending}
          onClick={() => void again()}
        >
          {texts.repeat}
        </GuardedButton>
      )}
      <div style={{ flexBasis: "100%" }}>
        <Unfold label={texts.body} icon={<IconTerminal size={15} />}>
          <Body place={place} webhookId={webhookId} deliveryId={delivery.id} />
        </Unfold>
      </div>
    </li>
  );
}

function Body({ place, webhookId, deliveryId }: { place: Place; webhookId: string; deliveryId: string }) {
  const { data, error, refetch } = useQuery(deliveryQuery(place, webhookId, deliveryId));
  if (error) return <LoadFailed error={error} onRetry={refetch} />;
  if (!data) return <RowsSkeleton rows={3} />;
  return data.body === null ? <Text c="dimmed">{texts.noBody}</Text> : <MessageBody body={data.body} />;
}
