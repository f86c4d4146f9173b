/** A user's events of metrics in one environment. */

import { Text, Title } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import type { EnvironmentPath } from "../../api/client";
import { metricsQuery } from "../metrics/metricsCalls";
import { eventsQuery, isNamed } from "./peopleCalls";
import type { PersonSearch } from "./person";
import { inFull } from "../../ui/time";
import { people as texts } from "./peopleTexts";
import { Empty } from "../../ui/Empty";
import { Given } from "../../ui/Given";
import { IconHistory } from "../../ui/icons";
import { Pages } from "../../ui/Pages";
import classes from "./People.module.css";

interface Props {
  readonly path: EnvironmentPath;
  /** Undefined while it is not known. */
  readonly person: PersonSearch | undefined;
}

export function EventList({ path, person = {} }: Props) {
  const query = useInfiniteQuery({ ...eventsQuery(path, person), enabled: isNamed(person) });
  const { data: metrics = [] } = useQuery(metricsQuery(path.project_id));
  const items = query.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <section aria-label={texts.eventsHeading} className={classes.part}>
      <Title order={3} fz="md">
        {texts.eventsHeading}
      </Title>
      <Text c="dimmed" size="sm" mb="xs" className="break">
        {texts.eventsText}{" "}
        {person.id !== undefined && person.email !== undefined && (
          <Given text={texts.eventsOfBoth(person.id, person.email)} />
        )}
      </Text>
      <Pages
        query={query}
        count={items.length}
        more={texts.changesMore}
        empty={<Empty icon={<IconHistory size={22} />} title={texts.eventsNone} text={texts.eventsNoneText} />}
      >
        {items.length === 0 ? (
          <Text size="sm">{texts.eventsNotYet}</Text>
        ) : (
          <ol className={classes.list}>
            {items.map(({ id, metric: key, occurred_at: at, key_kind: kind, key_name: keyName, value }) => {
              const metric = metrics.find((each) => each.key === key);
              return (
                <li key={id} className={classes.row}>
                  <span>
                    {metric && (
                      <>
                        <strong>
                          <Given text={metric.name} />
                        </strong>{" "}
                      </>
                    )}
                    <code className="mono">{key}</code>
                    {value !== null && ` · ${[value, metric?.unit].filter((each) => each != null).join(" ")}`}
                  </span>
                  <small>
                    <time dateTime={at}>{inFull(at)}</time>
                    {kind !== null && ` · ${texts.eventKeys[kind]}`}
                    {keyName !== null && (
                      <>
                        {" "}
                        <Given text={keyName} />
                      </>
                    )}
                  </small>
                </li>
              );
            })}
          </ol>
        )}
      </Pages>
    </section>
  );
}
