/** The buttons of a flag's page that concern only one's own account: a favourite, and a subscription. */

import { useQuery } from "@tanstack/react-query";
import { favouritesQuery, useMarkFavourite } from "./favouritesCalls";
import type { Flag } from "../../api/client";
import { notifyRefused } from "../../api/notify";
import { flagList as texts } from "./flagListTexts";
import { SubscribeButton } from "../notifications/SubscribeButton";
import { FavouriteStar } from "./FavouriteStar";

export function FavouriteButton({ flag }: { flag: Flag }) {
  const { data } = useQuery(favouritesQuery(flag.project_id));
  const { mutate } = useMarkFavourite(flag.project_id, (key, error) => notifyRefused(texts.notFavourite(key), error));
  if (!data) return null;
  return (
    <>
      <FavouriteStar
        name={flag.name}
        on={data.includes(flag.key)}
        onChange={(wanted) => mutate({ key: flag.key, wanted })}
      />
      <SubscribeButton
        projectId={flag.project_id}
        targets={[
          { kind: "flag", name: flag.name, environmentId: flag.environment_id, flagId: flag.id },
          ...flag.tags.map((name) => ({ kind: "tag" as const, name })),
        ]}
        size="compact-xs"
      />
    </>
  );
}
