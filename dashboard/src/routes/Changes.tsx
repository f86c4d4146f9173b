/** The audit trail of an environment: who changed what. */

import ChangePages from "../components/changes/ChangePages";
import { AnchorLink } from "../components/shared/links";
import { Page } from "../components/shared/Page";
import { useHere } from "../lib/useHere";
import { changes as changeTexts } from "../texts/changes";
import { restore } from "../texts/restore";

export function Changes() {
  const { path } = useHere();
  return (
    <Page
      title={changeTexts.heading}
      intro={changeTexts.intro}
      actions={
        <AnchorLink to="/projects/$projectId/audit" params={{ projectId: path.project_id }}>
          {restore.inProject}
        </AnchorLink>
      }
    >
      <ChangePages path={path} />
    </Page>
  );
}
