/** All accounts of the instance. */

import { Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { accountsQuery, type AdministeredAccount } from "./administrationCalls";
import { AccountTags } from "./AccountTags";
import { ListSearch } from "../../ui/ListSearch";
import classes from "./Administration.module.css";
import { Page } from "../../ui/Page";
import { Pages } from "../../ui/Pages";
import { When } from "../../ui/When";
import { adminPagesTexts } from "../../ui/adminPagesTexts";
import { administration } from "./administrationTexts";
import { Given } from "../../ui/Given";
import { toListSearch } from "../../ui/search";
import { useUrlState } from "../../ui/useUrlState";

const route = getRouteApi("/signed-in/admin/accounts");

export function AccountsPage() {
  const [{ q = "" }, search] = useUrlState(route, toListSearch);
  const query = useInfiniteQuery(accountsQuery(q));
  const accounts = query.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <Page title={adminPagesTexts.accounts} intro={administration.accountsIntro}>
      <ListSearch label={administration.searchAccounts} selected={q} onChange={(text) => search({ q: text })} />
      <Pages
        query={query}
        count={accounts.length}
        more={administration.more}
        empty={<Text c="dimmed">{administration.noAccounts(q)}</Text>}
      >
        <ul className={classes.list} aria-label={adminPagesTexts.accounts}>
          {accounts.map((each) => (
            <AccountRow key={each.id} account={each} />
          ))}
        </ul>
      </Pages>
    </Page>
  );
}

function AccountRow({ account }: { account: AdministeredAccount }) {
  return (
    <li>
      <Link to="/admin/accounts/$accountId" params={{ accountId: account.id }} className={classes.row}>
        <span className={classes.name} data-faded={!account.active || undefined}>
          <Given text={account.email} />
        </span>
        <AccountTags account={account} />
        <span className={classes.times}>
          {administration.created} <When at={account.created_at} /> ·{" "}
          {account.last_seen_at ? (
            <>
              {administration.lastSeen} <When at={account.last_seen_at} />
            </>
          ) : (
            administration.neverSeen
          )}
        </span>
      </Link>
    </li>
  );
}
