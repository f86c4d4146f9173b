import { expect, it } from "vitest";
import type { Flag } from "../../api/client";
import { withoutAudience } from "./newFlags";

it("takes over what is for people and what assigns users to buckets, but not the audience", () => {
  const taken = {
    name: "New checkout",
    key: "new-checkout",
    description: "The new one",
    tags: ["shop"],
    owner: "payments",
    keep: true,
    stickiness: "tenant",
    bucketing_key: "x",
  };
  const flag = { ...taken, id: "1", enabled: true, rollout_percentage: 5, fallthrough: "off", variants: [] } as unknown;
  expect(withoutAudience(flag as Flag)).toEqual({ ...taken, rollout_percentage: 0 });
});
