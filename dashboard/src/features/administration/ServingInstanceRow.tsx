/** A serving process: whether it is connected with the others, what it serves, and how busy it is. */

import type { ServingInstance } from "./servingInstancesCalls";
import { type Trouble, troubleOf } from "./servingInstances";
import { servingInstances as texts } from "./servingInstancesTexts";
import classes from "./ServingInstances.module.css";
import { When } from "../../ui/When";

export function ServingInstanceRow({ instance }: { instance: ServingInstance }) {
  const trouble = troubleOf(instance);
  const { name, version, started_at: startedAt, workers, answered } = instance;
  return (
    <li className={classes.row} data-trouble={trouble ?? undefined}>
      <div className={classes.head}>
        <h2 className={classes.name}>{name}</h2>
        <span className={classes.tag} data-trouble={trouble ?? undefined} data-state={instance.lease.state}>
          {stateInWords(instance, trouble)}
        </span>
        {answered && <span className={classes.tag}>{texts.answered}</span>}
        <span className={classes.detail}>
          {version}
          {workers !== null && ` · ${texts.workers(workers)}`}
          {startedAt !== null && (
            <>
              {" · "}
              {texts.started} <When at={startedAt} />
            </>
          )}
        </span>
      </div>
      {trouble && <p className={classes.explained}>{texts.explained[trouble]}</p>}
      <dl className={classes.facts}>
        {factsOf(instance).map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {instance.load === null && <p className={classes.detail}>{texts.noLoad}</p>}
    </li>
  );
}

function stateInWords({ lease }: ServingInstance, trouble: Trouble | null): string {
  if (trouble === "otherKey") return texts.otherKeyTag;
  if (trouble === "behind") return texts.behindTag;
  if (trouble === "busy") return texts.busyTag;
  return texts.states[lease.state];
}

function factsOf(instance: ServingInstance): (readonly [string, string])[] {
  const { lease, load } = instance;
  const left = lease.expires_in_seconds;
  return [
    [texts.serves, servesInWords(instance)],
    ...(left === null ? [] : [[texts.lease, left > 0 ? texts.expires(left) : texts.lapsedFor(-left)] as const]),
    ...(load === null
      ? []
      : ([
          [texts.evaluations, Math.round(load.evaluations_per_second).toLocaleString("en")],
          [texts.cpu, texts.cores(load.cpu)],
          [texts.lag, texts.milliseconds(load.event_loop_lag_seconds)],
          [texts.connections, load.connections.toLocaleString("en")],
          [texts.streams, load.streams.toLocaleString("en")],
          [texts.memory, texts.megabytes(load.memory_bytes)],
        ] as const)),
  ];
}

function servesInWords({ change, changes_behind: count, seconds_behind: seconds }: ServingInstance): string {
  if (change === null) return texts.unknown;
  return count ? texts.behind(change, count, seconds ?? 0) : texts.upTo(change);
}
