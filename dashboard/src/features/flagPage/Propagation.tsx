/** Which applications that evaluate flags themselves have the flag's present state. Shows nothing if there are none. */

import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { EnvironmentPath } from "../../api/client";
import { useOutage } from "../../api/outage";
import { connectionsQuery } from "../applications/connectionsCalls";
import { propagationInWords } from "./propagation";
import { useGuard } from "../../ui/useGuard";
import { outage as outageTexts } from "../../ui/outageTexts";
import { connections as texts } from "./connectionsTexts";

export function Propagation({ path: { project_id, env_id } }: { path: EnvironmentPath }) {
  const { reason } = useGuard({ needs: "evaluations:read" });
  const query = useMemo(() => connectionsQuery({ project_id, env_id }), [project_id, env_id]);
  const { data, dataUpdatedAt } = useQuery({ ...query, enabled: reason === null });
  const outage = useOutage();
  const known = data ? propagationInWords(data, dataUpdatedAt) : null;
  const words = known !== null && outage ? outageTexts.unknown : known;
  if (words === null) return null;
  return (
    <section aria-label={texts.label}>
      <Text size="xs" c="dimmed">
        {words}
      </Text>
    </section>
  );
}
