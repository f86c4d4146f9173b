/** Lists the changes that a copy makes, flag by flag. */

import { Text } from "@mantine/core";
import type { CopyAlteration } from "./comparisonsCalls";
import { alteredFields, byFlag } from "./comparisons";
import { compare, copy as texts } from "./compareTexts";
import { ChangedFields } from "../../ui/changes/ChangedFields";
import classes from "./Differences.module.css";

const FLAGS_SHOWN = 20;
const RULES_SHOWN = 10;

export function CopyPreview({ alterations }: { alterations: readonly CopyAlteration[] }) {
  const flags = [...byFlag(alterations)];
  if (flags.length === 0) return <Text>{texts.unchanged}</Text>;
  return (
    <section aria-label={texts.preview}>
      <Text fw={570}>{texts.preview}</Text>
      {/* Focusable, because scrollable content must be scrollable by keyboard. */}
      <ul className={classes.preview} tabIndex={0} aria-label={texts.preview}>
        {flags.slice(0, FLAGS_SHOWN).map(([key, own]) => (
          <li key={key}>
            <code>{key}</code>
            <AlteredFlag alterations={own} />
          </li>
        ))}
        {flags.length > FLAGS_SHOWN && <li>{compare.moreFlags(flags.length - FLAGS_SHOWN)}</li>}
      </ul>
    </section>
  );
}

function AlteredFlag({ alterations }: { alterations: readonly CopyAlteration[] }) {
  const flag = alterations.find((each) => each.action.startsWith("flag."));
  const rules = alterations.filter((each) => each !== flag);
  return (
    <>
      {flag?.action === "flag.created" && ` ${texts.created}`}
      {flag && <ChangedFields fields={alteredFields(flag)} />}
      {rules.slice(0, RULES_SHOWN).map((each) => (
        <div key={each.resource_id}>
          <Text size="sm">{texts.verb[each.action.replace("rule.", "")]}</Text>
          <ChangedFields fields={alteredFields(each)} />
        </div>
      ))}
      {rules.length > RULES_SHOWN && <Text size="sm">{compare.moreRules(rules.length - RULES_SHOWN)}</Text>}
    </>
  );
}
