/** The audit trail of the instance: who changed accounts and settings. */

import { instanceChangesQuery } from "../../api/changes";
import { ChangeList } from "../../components/changes/ChangeList";
import { NoChanges } from "../../components/changes/NoChanges";
import { Page } from "../../components/shared/Page";
import { t } from "../../texts";
import { administration } from "../../texts/administration";

const NO_FLAGS: ReadonlyMap<string, string> = new Map();

export function InstanceChanges() {
  return (
    <Page title={t.adminPages.changes} intro={administration.changesIntro}>
      <ChangeList
        changes={instanceChangesQuery}
        flagNames={NO_FLAGS}
        empty={<NoChanges text={administration.changesEmpty} />}
      />
    </Page>
  );
}
