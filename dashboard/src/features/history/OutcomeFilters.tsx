/** Filters of a history by the result of one flag: a variant, and the rule that matched. */

import { NativeSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { EnvironmentPath, Flag } from "../../api/client";
import { rulesQuery } from "../flags/rulesCalls";
import { ruleInWords } from "../../ui/conditions/audience";
import { recordsRules } from "./historyFilter";
import type { HistorySearch } from "../../ui/search";
import { historyTexts } from "./historyTexts";
import { historyPage } from "./historyPageTexts";

interface Props {
  readonly path: EnvironmentPath;
  readonly flag: Flag;
  readonly search: HistorySearch;
  readonly onChoose: (part: Pick<HistorySearch, "variant" | "rule">) => void;
}

export function OutcomeFilters({ path, flag, search: { variant = "", rule = "" }, onChoose }: Props) {
  const { data: rules = [] } = useQuery(rulesQuery({ ...path, flag_id: flag.id }));
  const variants = flag.variants.map(({ key }) => ({ value: key, label: key }));
  const known = rules.map((each) => ({ value: each.id, label: ruleInWords(each) }));
  const isRecorded = recordsRules(flag, rules) || rule !== "";
  return (
    <>
      {(variants.length > 0 || variant) && (
        <NativeSelect
          label={historyPage.variantLabel}
          value={variant}
          onChange={(event) => onChoose({ variant: event.currentTarget.value })}
          data={[{ value: "", label: historyPage.variantAny }, ...withChosen(variants, variant, variant)]}
        />
      )}
      {(known.length > 0 || rule) && (
        <NativeSelect
          label={historyPage.rule}
          value={rule}
          disabled={!isRecorded}
          title={isRecorded ? undefined : historyPage.ruleNotRecorded}
          onChange={(event) => onChoose({ rule: event.currentTarget.value })}
          data={[{ value: "", label: historyPage.ruleAny }, ...withChosen(known, rule, historyTexts.ruleGone(rule))]}
        />
      )}
    </>
  );
}

interface Choice {
  readonly value: string;
  readonly label: string;
}

/** The history keeps deleted values, so the chosen value may no longer be among the choices. */
function withChosen(choices: readonly Choice[], chosen: string, label: string): readonly Choice[] {
  if (chosen === "" || choices.some(({ value }) => value === chosen)) return choices;
  return [...choices, { value: chosen, label }];
}
