/** The changes to the signed-in account, which are loaded when they are unfolded. */

import { lazy } from "react";
import { ownChangesQuery } from "../api/changes";
import { t } from "../texts";
import { administration } from "../texts/administration";
import { IconHistory } from "./icons";
import { Unfold } from "./Unfold";

const ChangeList = lazy(() => import("./ChangeList").then(({ ChangeList }) => ({ default: ChangeList })));

export function AccountChanges() {
  return (
    <Unfold label={administration.ownChanges} icon={<IconHistory size={15} />}>
      <ChangeList changes={ownChangesQuery} flagNames={new Map()} emptyText={t.changes.projectEmptyText} />
    </Unfold>
  );
}
