/** The instances that serve from one database: which are connected, which changes they serve, and how busy each is. */

import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useOutage } from "../../api/outage";
import { servingInstancesQuery, type ServingInstance } from "./servingInstancesCalls";
import { Empty } from "../../ui/Empty";
import { IconGrid } from "../../ui/icons";
import { ServingInstanceRow } from "./ServingInstanceRow";
import classes from "./ServingInstances.module.css";
import { Page } from "../../ui/Page";
import { RowsSkeleton } from "../../ui/PageSkeleton";
import { LoadFailed } from "../../ui/ProblemPage";
import { troubleOf } from "./servingInstances";
import { adminPagesTexts } from "../../ui/adminPagesTexts";
import { outage as outageTexts } from "../../ui/outageTexts";
import { servingInstances as texts } from "./servingInstancesTexts";

export function ServingInstancesPage() {
  const { data, error, refetch } = useQuery(servingInstancesQuery);
  return (
    <Page title={adminPagesTexts.instances} intro={texts.intro}>
      {error && <LoadFailed error={error} onRetry={refetch} />}
      {!data && !error && <RowsSkeleton rows={3} height={120} />}
      {data && <List instances={data} />}
    </Page>
  );
}

function List({ instances }: { instances: readonly ServingInstance[] }) {
  const troubled = instances.filter((each) => troubleOf(each) !== null).length;
  const all = instances.length;
  const outage = useOutage();
  const state = troubled ? texts.attention(troubled, all) : texts.well(all);
  return (
    <>
      <Text role="status" mb="xs" fw={troubled ? 570 : undefined}>
        {all > 0 && (outage ? outageTexts.unknownInstances : state)}
      </Text>
      {all === 0 ? (
        <Empty icon={<IconGrid size={22} />} title={texts.none} text={texts.noneText} />
      ) : (
        <ul className={classes.list} aria-label={adminPagesTexts.instances}>
          {instances.map((each) => (
            <ServingInstanceRow key={each.id} instance={each} />
          ))}
        </ul>
      )}
    </>
  );
}
