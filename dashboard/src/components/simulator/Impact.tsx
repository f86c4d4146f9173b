/** For how many of the users of the last day a change would change the result. */

import { Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { FlagPath } from "../../api/client";
import { type FlagDraft, impactQuery } from "../../api/explain";
import { lineOf, Problem } from "../../api/problem";
import { impactInWords } from "../../lib/impact";
import { impact as texts } from "../../texts/impact";

const TYPING_MILLISECONDS = 1000; // counting takes the server a while

export function Impact({ path, draft }: { path: FlagPath; draft: FlagDraft | null }) {
  return (
    <Text size="sm" role="status">
      {useImpact(path, draft)}
    </Text>
  );
}

function useImpact(path: FlagPath, draft: FlagDraft | null): string | null {
  const now = draft && JSON.stringify(draft);
  const [unchanged] = useState(now);
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
