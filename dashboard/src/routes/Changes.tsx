/** The audit trail of an environment: who changed what. */

import ChangePages from "../components/ChangePages";
import { Page } from "../components/Page";
import { useHere } from "../lib/useHere";
import { t } from "../texts";

export function Changes() {
  const { path } = useHere();
  return (
    <Page title={t.changes.heading} intro={t.changes.intro}>
      <ChangePages path={path} emptyText={t.changes.emptyText} />
    </Page>
  );
}
