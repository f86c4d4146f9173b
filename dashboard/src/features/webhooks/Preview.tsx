/** The changes of the last day that a webhook would have been sent. */

import { Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type Place, previewQuery, type WebhookFilter } from "./webhooksCalls";
import { lineOf } from "../../api/problem";
import { webhooks as texts } from "./webhooksTexts";
import classes from "../../ui/ListRows.module.css";
import { RowsSkeleton } from "../../ui/PageSkeleton";
import { Refusal } from "../../ui/Refusal";
import { Unfold } from "../../ui/Unfold";
import { When } from "../../ui/When";
import { MessageBody } from "./MessageBody";

interface Props {
  readonly place: Place;
  readonly filter: WebhookFilter;
}

export default function Preview({ place, filter }: Props) {
  const { data, error } = useQuery(previewQuery(place, filter));
  if (error) return <Refusal text={lineOf(error)} />;
  if (!data) return <RowsSkeleton rows={3} />;
  return (
    <Stack gap="xs">
      <Text size="sm" role="status">
        {texts.wouldBeSent(data.count, data.examined)}
      </Text>
      {data.messages.length > 0 && (
        <ul className={classes.list} aria-label={texts.preview}>
          {data.messages.map((each, place) => (
            <li key={`${each.timestamp}-${place}`} className={classes.row}>
              <div className={classes.label} style={{ flexBasis: "100%" }}>
                <span className={classes.name}>{each.type}</span>
                <span className={classes.details}>
                  <When at={each.timestamp} />
                </span>
                <Unfold label={texts.body}>
                  <MessageBody body={each.body} />
                </Unfold>
              </div>
            </li>
          ))}
        </ul>
      )}
    </Stack>
  );
}
