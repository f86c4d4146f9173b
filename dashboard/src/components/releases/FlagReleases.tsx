/** The releases of a flag: the open one, a call and a dialog that make one, and those that have ended. */

import { Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Rule } from "../../api/client";
import { releasesQuery } from "../../api/releases";
import { type FlagPlace, isArchived } from "../../lib/flagPlace";
import { isOpen } from "../../lib/releaseState";
import { releases as texts } from "../../texts/releases";
import { Empty } from "../shared/Empty";
import { IconHistory } from "../shared/icons";
import { RowsSkeleton } from "../shared/PageSkeleton";
import { LoadFailed } from "../shared/ProblemPage";
import { EarlierReleases } from "./EarlierReleases";
import { ReleaseCard } from "./ReleaseCard";
import classes from "./Releases.module.css";

type Props = FlagPlace & { readonly rules: readonly Rule[] };

export default function FlagReleases({ rules, ...place }: Props) {
  const { path, flag } = place;
  const { data: releases, error, refetch } = useQuery(releasesQuery(path));
  if (!releases) return error ? <LoadFailed error={error} onRetry={refetch} /> : <RowsSkeleton rows={5} height={48} />;
  const open = releases.find(isOpen);
  const ended = releases.filter((each) => !isOpen(each));
  return (
    <div className={classes.page}>
      {open ? (
        <ReleaseCard path={path} flag={flag} release={open} rules={rules} />
      ) : (
        <Empty
          icon={<IconHistory size={22} />}
          title={texts.emptyHeading}
          text={isArchived(flag) ? texts.emptyArchived : texts.emptyText}
        />
      )}
      {ended.length > 0 && (
        <section aria-label={texts.earlier}>
          <Title order={2} mb="sm">
            {texts.earlier}
          </Title>
          <EarlierReleases path={path} flag={flag} releases={ended} rules={rules} />
          <Text size="xs" c="dimmed" mt="xs">
            {texts.earlierNote}
          </Text>
        </section>
      )}
    </div>
  );
}
