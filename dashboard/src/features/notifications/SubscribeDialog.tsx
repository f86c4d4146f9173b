/** Subscribes to the changes of a flag, an environment or a tag, or ends that, each by a checkbox. */

import { Checkbox, Modal, Stack, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { type Subscription, subscriptionsQuery, useSubscribe, useUnsubscribeFrom } from "./subscriptionsCalls";
import { notifyRefused } from "../../api/notify";
import type { DialogProps } from "../../ui/useDialog";
import { subscriptions as texts } from "./subscriptionsTexts";
import { AnchorLink } from "../../ui/links";
import { RowsSkeleton } from "../../ui/PageSkeleton";
import { LoadFailed } from "../../ui/ProblemPage";

/** A target of a subscription: a flag, with its environment; an environment; or a tag. */
export type SubscriptionTarget =
  | { readonly kind: "flag"; readonly name: string; readonly environmentId: string; readonly flagId: string }
  | { readonly kind: "environment"; readonly name: string; readonly environmentId: string }
  | { readonly kind: "tag"; readonly name: string };

interface Props extends DialogProps {
  readonly projectId: string;
  readonly targets: readonly SubscriptionTarget[];
}

export function SubscribeDialog({ projectId, targets, ...dialog }: Props) {
  const { data, error, refetch } = useQuery(subscriptionsQuery(projectId));
  return (
    <Modal title={texts.dialog} {...dialog}>
      <Stack gap="md">
        <Text>{texts.dialogText}</Text>
        {error && !data && <LoadFailed error={error} onRetry={refetch} />}
        {!data && !error && <RowsSkeleton rows={targets.length} height={24} />}
        {data &&
          targets.map((target) => (
            <Choice
              key={`${target.kind} ${target.name}`}
              projectId={projectId}
              target={target}
              present={data.find((each) => isOf(each, target))}
            />
          ))}
        <AnchorLink to="/account" size="sm">
          {texts.all}
        </AnchorLink>
      </Stack>
    </Modal>
  );
}

interface ChoiceProps {
  readonly projectId: string;
  readonly target: SubscriptionTarget;
  readonly present: Subscription | undefined;
}

function Choice({ projectId, target, present }: ChoiceProps) {
  const cache = useQueryClient();
  const { mutateAsync: subscribe } = useSubscribe(projectId);
  const { mutateAsync: unsubscribe } = useUnsubscribeFrom();
  // Set at the press: otherwise React puts the box back until the mutation is known to have begun.
  const [pressed, setPressed] = useState<boolean | null>(null);
  const presses = useRef(0);
  const running = useRef<Promise<void>>(Promise.resolve());
  const change = async (wanted: boolean, press: number) => {
    try {
      const now = cache.getQueryData(subscriptionsQuery(projectId).queryKey)?.find((each) => isOf(each, target));
      if (wanted !== (now !== undefined)) await (now ? unsubscribe(now) : subscribe(bodyOf(target)));
    } catch (refusal) {
      notifyRefused(texts.refused, refusal);
    } finally {
      if (press === presses.current) setPressed(null);
    }
  };
  /** One after the other, because each depends on the result of the previous one. */
  const onPress = (wanted: boolean) => {
    setPressed(wanted);
    presses.current += 1;
    const press = presses.current;
    running.current = running.current.then(() => change(wanted, press));
  };
  return (
    <Checkbox
      className="break"
      label={texts.targets[target.kind](target.name)}
      checked={pressed ?? present !== undefined}
      onChange={({ currentTarget: { checked } }) => onPress(checked)}
    />
  );
}

function isOf(subscription: Subscription, target: SubscriptionTarget): boolean {
  if (subscription.kind !== target.kind) return false;
  if (target.kind === "tag") return subscription.tag === target.name;
  if (target.kind === "flag") return subscription.flag_id === target.flagId;
  return subscription.environment_id === target.environmentId;
}

function bodyOf(target: SubscriptionTarget) {
  if (target.kind === "tag") return { tag: target.name };
  if (target.kind === "flag") return { environment_id: target.environmentId, flag_id: target.flagId };
  return { environment_id: target.environmentId };
}
