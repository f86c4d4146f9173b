/** The number of users of the last day whose result a change would change. */

import { Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { FlagPath } from "../../api/client";
import { type FlagDraft, impactQuery } from "./explainCalls";
import { lineOf, Problem } from "../../api/problem";
import { impactInWords } from "./impact";
import { impact as texts } from "./impactTexts";

const TYPING_MILLISECONDS = 1000; // counting takes the server a while

interface Props {
  readonly path: FlagPath;
  readonly draft: FlagDraft | null;
  /** The draft that would be saved, if it is not the first one. */
  readonly saved?: FlagDraft;
}

export function Impact({ path, draft, saved }: Props) {
  return (
    <Text size="sm" role="status">
      {useImpact(path, draft, saved)}
    </Text>
  );
}

function useImpact(path: FlagPath, draft: FlagDraft | null, saved: FlagDraft | undefined): string | null {
  const now = draft && JSON.stringify(draft);
  const [first] = useState(now);
  const unchanged = saved ? JSON.stringify(saved) : first;
  const [settled] = useDebouncedValue(now, TYPING_MILLISECONDS);
  const { data, error } = useQuery({
    ...impactQuery(path, settled ?? ""),
    enabled: settled !== null && settled !== unchanged,
  });
  if (now === unchanged) return null;
  if (now === null) return texts.incomplete;
  if (now !== settled || (!data && !error)) return texts.asking;
  if (data) return impactInWords(data);
  return error instanceof Problem && error.status < 500 ? texts.incomplete : lineOf(error);
}
