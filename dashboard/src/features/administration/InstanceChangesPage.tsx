/** The audit trail of the instance: who changed accounts and settings. */

import { instanceChangesQuery } from "../../api/changes";
import { ChangeList } from "../audit/ChangeList";
import { NoChanges } from "../audit/NoChanges";
import { Page } from "../../ui/Page";
import { adminPagesTexts } from "../../ui/adminPagesTexts";
import { administration } from "./administrationTexts";

const NO_FLAGS: ReadonlyMap<string, string> = new Map();

export function InstanceChangesPage() {
  return (
    <Page title={adminPagesTexts.changes} intro={administration.changesIntro}>
      <ChangeList
        changes={instanceChangesQuery}
        flagNames={NO_FLAGS}
        empty={<NoChanges text={administration.changesEmpty} />}
      />
    </Page>
  );
}
