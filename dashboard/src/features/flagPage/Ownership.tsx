/** Shows the owner of a flag, and whether the flag is meant to stay. */

import { Text } from "@mantine/core";
import type { Flag } from "../../api/client";
import { ownership } from "./ownershipTexts";

export function Ownership({ flag: { owner, keep } }: { flag: Pick<Flag, "owner" | "keep"> }) {
  return (
    <Text size="sm" c="dimmed" className="break">
      {[...(owner === null ? [] : [ownership.ownedBy(owner)]), ...(keep ? [ownership.kept] : [])].join(" · ")}
    </Text>
  );
}
