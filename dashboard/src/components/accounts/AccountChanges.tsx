/** The changes to the signed-in account, which are loaded when they are unfolded. */

import { lazy } from "react";
import { ownChangesQuery } from "../../api/changes";
import { administration } from "../../texts/administration";
import { NoChanges } from "../changes/NoChanges";
import { IconHistory } from "../shared/icons";
import { Unfold } from "../shared/Unfold";

const ChangeList = lazy(() => import("../changes/ChangeList").then(({ ChangeList }) => ({ default: ChangeList })));

export function AccountChanges() {
  return (
    <Unfold label={administration.ownChanges} icon={<IconHistory size={15} />}>
      <ChangeList changes={ownChangesQuery} flagNames={new Map()} empty={<NoChanges />} />
    </Unfold>
  );
}
