/** The audit trail of the instance: who changed accounts and settings. */

import { instanceChangesQuery } from "../../api/changes";
import { ChangeList } from "../../components/ChangeList";
import { Page } from "../../components/Page";
import { t } from "../../texts";

const NO_FLAGS: ReadonlyMap<string, string> = new Map();

export function InstanceChanges() {
  return (
    <Page title={t.administration.changes} intro={t.administration.changesIntro}>
      <ChangeList changes={instanceChangesQuery} flagNames={NO_FLAGS} emptyText={t.administration.changesEmpty} />
    </Page>
  );
}
