/** The changes to the signed-in account, which are loaded when they are unfolded. */

import { lazy } from "react";
import { ownChangesQuery } from "../../api/changes";
import { administration } from "./administrationTexts";
import { NoChanges } from "../audit/NoChanges";
import { IconHistory } from "../../ui/icons";
import { Unfold } from "../../ui/Unfold";

const ChangeList = lazy(() => import("../audit/ChangeList").then(({ ChangeList }) => ({ default: ChangeList })));

export function AccountChanges() {
  return (
    <Unfold label={administration.ownChanges} icon={<IconHistory size={15} />}>
      <ChangeList changes={ownChangesQuery} flagNames={new Map()} empty={<NoChanges />} />
    </Unfold>
  );
}
