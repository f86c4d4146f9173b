/** A flag that differs between two environments, or that only one of them has. */

import { Checkbox, Text } from "@mantine/core";
import type { Environment } from "../../api/client";
import type { Comparison } from "./comparisonsCalls";
import { changedWords, type Piece } from "./changedWords";
import { differingFields, differingRules } from "./comparisons";
import { common } from "../../ui/commonTexts";
import { changes as changeTexts } from "../../ui/changes/changesTexts";
import { compare as texts } from "./compareTexts";
import { DataTable } from "../../ui/DataTable";
import { AnchorLink } from "../../ui/links";
import classes from "./Differences.module.css";

const RULES_SHOWN = 10;

export interface Pair {
  readonly origin: Environment;
  readonly target: Environment;
}

interface Props {
  readonly projectId: string;
  readonly pair: Pair;
  readonly item: Comparison;
  readonly ticked: boolean;
  /** Without it, the flag cannot be copied. */
  readonly onTick?: ((ticked: boolean) => void) | undefined;
}

export function DifferenceRow({ projectId, pair, item, ticked, onTick }: Props) {
  const name = (item.from ?? item.to)?.name ?? item.flag_key;
  const places = [
    { environment: pair.origin, flag: item.from },
    { environment: pair.target, flag: item.to },
  ];
  const other = item.from ? pair.target : pair.origin;
  return (
    <li className={classes.row}>
      {onTick ? (
        <Checkbox
          aria-label={texts.tick(name)}
          checked={ticked}
          onChange={(event) => onTick(event.currentTarget.checked)}
        />
      ) : (
        <span />
      )}
      <div className={classes.head}>
        <Text span fw={570}>
          {name}
        </Text>
        <code className={classes.key}>{item.flag_key}</code>
        {places.map(
          ({ environment, flag }) =>
            flag && (
              <AnchorLink
                key={environment.id}
                size="sm"
                to="/projects/$projectId/environments/$environmentId/flags/$flagId"
                params={{ projectId, environmentId: environment.id, flagId: flag.id }}
                aria-label={texts.open(texts.place(environment.name, flag.enabled ? common.on : common.off), name)}
              >
                {texts.place(environment.name, flag.enabled ? common.on : common.off)}
              </AnchorLink>
            ),
        )}
        {item.archived_in_other && (
          <Text span size="sm" c="dimmed">
            {texts.archived(other.name)}
          </Text>
        )}
      </div>
      {item.place === "both" && <Details pair={pair} item={item} />}
    </li>
  );
}

function Details({ pair, item }: Pick<Props, "pair" | "item">) {
  const rules = differingRules(item);
  const fields = differingFields(item).map(({ field, before, after }) => {
    const pieces = changedWords(before ?? "", after ?? "");
    return {
      name: changeTexts.fields[field] ?? field,
      from: before === null ? texts.none : <Marked pieces={pieces.before} />,
      to: after === null ? texts.none : <Marked pieces={pieces.after} />,
    };
  });
  const ofRules = rules && {
    name: texts.rules,
    from: <RuleSentences sentences={rules.from} others={rules.to} />,
    to: <RuleSentences sentences={rules.to} others={rules.from} />,
  };
  return (
    <DataTable
      className={classes.details}
      columns={[
        { head: texts.field, cell: ({ name }) => name },
        { head: pair.origin.name, cell: ({ from }) => from },
        { head: pair.target.name, cell: ({ to }) => to },
      ]}
      rows={ofRules ? [...fields, ofRules] : fields}
      keyOf={({ name }) => name}
    />
  );
}

interface RuleSentencesProps {
  readonly sentences: readonly string[];
  /** The rules of the other environment. */
  readonly others: readonly string[];
}

/** A rule is compared with the one in the same place, unless the other side has it elsewhere. */
function RuleSentences({ sentences, others }: RuleSentencesProps) {
  if (sentences.length === 0) return texts.none;
  return (
    <>
      <ol className={classes.rules}>
        {/* A rule has no other identity here than its place. */}
        {sentences.slice(0, RULES_SHOWN).map((sentence, place) => (
          <li key={place}>
            {others.includes(sentence) ? (
              sentence
            ) : (
              <Marked pieces={changedWords(sentence, others[place] ?? "").before} />
            )}
          </li>
        ))}
      </ol>
      {sentences.length > RULES_SHOWN && texts.moreRules(sentences.length - RULES_SHOWN)}
    </>
  );
}

function Marked({ pieces }: { pieces: readonly Piece[] }) {
  // A piece has no other identity than its place.
  return pieces.map(({ text, changed }, place) =>
    changed ? (
      <mark key={place} className={classes.changed}>
        {text}
      </mark>
    ) : (
      <span key={place}>{text}</span>
    ),
  );
}
