/** The audit of an environment: who changed what. */

import { useInfiniteQuery } from "@tanstack/react-query";
import { changesQuery } from "../api/changes";
import { ChangeRows } from "../components/ChangeRows";
import { Empty } from "../components/Empty";
import { IconPencil } from "../components/icons";
import { Page } from "../components/Page";
import { Pages } from "../components/Pages";
import { useHere } from "../lib/useHere";
import { t } from "../texts";

export function Changes() {
  const { path } = useHere();
  const query = useInfiniteQuery(changesQuery(path));
  const items = query.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Page title={t.changes.heading} intro={t.changes.intro}>
      <Pages
        query={query}
        count={items.length}
        empty={<Empty icon={<IconPencil size={22} />} title={t.changes.emptyHeading} text={t.changes.emptyText} />}
      >
        <ChangeRows path={path} items={items} />
      </Pages>
    </Page>
  );
}
