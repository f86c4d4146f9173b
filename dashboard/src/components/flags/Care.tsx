/** Shows the owner of a flag, and whether the flag is meant to stay. */

import { Text } from "@mantine/core";
import type { Flag } from "../../api/client";
import { care } from "../../texts/care";

export function Care({ flag: { owner, keep } }: { flag: Pick<Flag, "owner" | "keep"> }) {
  return (
    <Text size="sm" c="dimmed" className="break">
      {[...(owner === null ? [] : [care.ownedBy(owner)]), ...(keep ? [care.kept] : [])].join(" · ")}
    </Text>
  );
}
