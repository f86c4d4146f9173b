/** One account, as administrators see it: its resources, its sessions, and the actions. */

import { Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { type AccountDetails, accountQuery, instanceQuery } from "./administrationCalls";
import { ownAccountQuery } from "../identity/ownAccountCalls";
import { Problem } from "../../api/problem";
import { AccountActions } from "./AccountActions";
import { AccountSessions } from "./AccountSessions";
import { AccountTags } from "./AccountTags";
import { Facts } from "../../ui/Facts";
import { AnchorLink } from "../../ui/links";
import { Page } from "../../ui/Page";
import { PageSkeleton } from "../../ui/PageSkeleton";
import { LoadFailed, NotFound } from "../../ui/ProblemPage";
import { When } from "../../ui/When";
import { adminPagesTexts } from "../../ui/adminPagesTexts";
import { administration as texts } from "./administrationTexts";

const PROJECTS_QUOTA = "FLAGSTAFF_MAX_PROJECTS_PER_ACCOUNT";
const route = getRouteApi("/signed-in/admin/accounts/$accountId");

export function AccountPage() {
  const { accountId } = route.useParams();
  const { data: account, error, refetch } = useQuery(accountQuery(accountId));
  const { data: own } = useQuery(ownAccountQuery);
  if (error instanceof Problem && error.status === 404) return <NotFound />;
  if (!account && !error) return <PageSkeleton />;
  const isSelf = own?.id === accountId;
  return (
    <Page title={account?.email ?? adminPagesTexts.accounts} intro={<BackLink />}>
      {error && !account && <LoadFailed error={error} onRetry={refetch} />}
      {account && (
        <Stack gap="xl" maw={820}>
          <AccountTags account={account} />
          <AccountActions account={account} isSelf={isSelf} />
          <AccountFacts account={account} />
          <AccountSessions account={account} isSelf={isSelf} />
        </Stack>
      )}
    </Page>
  );
}

function BackLink() {
  return <AnchorLink to="/admin/accounts">{texts.allAccounts}</AnchorLink>;
}

function AccountFacts({ account }: { account: AccountDetails }) {
  const { data: instance } = useQuery(instanceQuery);
  const quota = instance?.quotas[PROJECTS_QUOTA];
  const facts: (readonly [string, ReactNode])[] = [
    [texts.created, <When key="created" at={account.created_at} />],
    [texts.lastSeenLabel, account.last_seen_at ? <When key="seen" at={account.last_seen_at} /> : texts.neverSeen],
    [texts.secondFactor, texts.secondFactorOf[account.second_factor ? "yes" : "no"]],
    [texts.ownProjects, quota === undefined ? account.projects : texts.ofQuota(account.projects, quota)],
    [texts.tokens, account.tokens],
  ];
  if (account.deactivated_at) facts.unshift([texts.deactivatedAt, <When key="at" at={account.deactivated_at} />]);
  return <Facts facts={facts} />;
}
