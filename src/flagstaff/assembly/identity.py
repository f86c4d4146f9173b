"""Builds accounts, sessions, second factors, single sign-on and access tokens."""

import ssl
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from flagstaff.accounts.account_deletions_service import AccountDeletions
from flagstaff.accounts.accounts_service import Accounts
from flagstaff.accounts.administrators_service import Administrators
from flagstaff.accounts.email_verification import EmailVerification, VerificationTokens
from flagstaff.accounts.single_sign_on.identities import CALLBACK_PATH
from flagstaff.accounts.single_sign_on.single_sign_on_service import SingleSignOn
from flagstaff.assembly.foundation import Foundation, PeriodicTask
from flagstaff.audit.forgetting import EVERY_SECONDS, TrailForgetting
from flagstaff.identity.accounts.accounts import Account
from flagstaff.identity.accounts.confirmations import Confirmations
from flagstaff.identity.accounts.owner_warnings import OwnerWarnings, Warned
from flagstaff.identity.accounts.passwords import Passwords
from flagstaff.identity.accounts.trusted_addresses import TrustedAddresses
from flagstaff.identity.administration.instance_service import Instance
from flagstaff.identity.second_factors.passkeys import site_of
from flagstaff.identity.second_factors.passkeys_service import Passkeys
from flagstaff.identity.second_factors.recovery_codes import RecoveryCodeHashes
from flagstaff.identity.second_factors.sealing import Sealer
from flagstaff.identity.second_factors.second_factors_service import SecondFactors
from flagstaff.identity.sessions.sessions_service import Sessions
from flagstaff.identity.sessions.tokens import Tokens
from flagstaff.mail.mailer import Mailer
from flagstaff.notifications.mail_budget import MailBudget
from flagstaff.projects.access_tokens.access_tokens import AccessToken
from flagstaff.projects.access_tokens.access_tokens_service import AccessTokens

if TYPE_CHECKING:  # loaded only if the settings name a provider
    import httpx

    from flagstaff.accounts.single_sign_on.oidc import ProviderClient

# The interval at which old records of accounts are removed: what has expired, and clients not seen for long.
_PURGE_SECONDS = 600.0
# The interval at which the last uses of credentials are written.
LAST_USED_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Identity:
    """Accounts, and how they prove who they are."""

    accounts: Accounts
    sessions: Sessions
    access_tokens: AccessTokens
    administrators: Administrators
    deletions: AccountDeletions
    forgetting: TrailForgetting
    second_factors: SecondFactors
    single_sign_on: SingleSignOn
    instance: Instance
    passwords: Passwords
    owns_passwords: bool
    http: "httpx.AsyncClient | None"

    async def write_last_used(self) -> None:
        """Write when sessions and access tokens were last used."""
        await self.sessions.write_last_seen()
        await self.access_tokens.write_last_used()

    async def purge(self, now: datetime) -> None:
        """Delete what has expired."""
        await self.single_sign_on.purge(now)
        await self.accounts.purge(now)
        await self.sessions.end_idle(now)
        await self.second_factors.purge(now)

    async def close(self) -> None:
        """End the process that hashes passwords, unless it was given, and the connections to providers."""
        if self.owns_passwords:
            self.passwords.close()
        if self.http is not None:
            await self.http.aclose()


def build_identity(
    foundation: Foundation, mails: Mailer, passwords: Passwords | None, passed_time: Callable[[], datetime]
) -> Identity:
    """Accounts, sessions and the rest. `passwords`, if given, are not closed. `passed_time` ignores leaps of clocks."""
    settings, database, now = foundation.settings, foundation.database, foundation.now
    hashes, tokens, sealer = passwords or Passwords(), Tokens(foundation.secret_key), Sealer(foundation.secret_key)
    sessions = Sessions(database, now, tokens, settings.session_idle_minutes)
    confirmations = Confirmations(database, now, hashes, sealer)
    code_hashes = RecoveryCodeHashes(database, hashes, foundation.supervisor)
    passkeys = Passkeys(database, now, confirmations, site_of(settings.public_url), code_hashes)
    instance = Instance(database, now, settings.registration, settings.demand_second_factor, settings.quotas())
    http = _make_http(foundation)
    budget = MailBudget(database, now)

    async def mail_token(token: AccessToken, page: str) -> None:
        if await budget.take_for_warning(token.account_id):
            await mails.send_token_created(token.email, page)

    async def mail_verification(account: Account, token: str) -> None:
        if await budget.take_for_warning(account.id):
            await mails.send_verification(account.email, token)

    async def mail_warning(account: Account, warned: Warned) -> None:
        if await budget.take_for_warning(account.id):
            await mails.send_owner_warning(account.email, warned)

    accounts = Accounts(
        database,
        now,
        hashes,
        sessions,
        mails.send_password_reset,
        accepts_common_passwords=settings.accepts_common_passwords,
    )
    identity = Identity(
        accounts=accounts,
        sessions=sessions,
        access_tokens=AccessTokens(database, now, mail_token, settings),
        administrators=Administrators(database, now),
        deletions=AccountDeletions(database, now, sealer, settings.max_projects_per_account),
        forgetting=TrailForgetting(database, sealer),
        second_factors=SecondFactors(database, now, confirmations, tokens, sealer, passkeys, code_hashes),
        single_sign_on=SingleSignOn(
            database, now, hashes, _make_provider_clients(foundation, http), instance, settings.public_url
        ),
        instance=instance,
        passwords=hashes,
        owns_passwords=passwords is None,
        http=http,
    )
    foundation.services += [
        identity.accounts,
        sessions,
        identity.access_tokens,
        identity.administrators,
        identity.deletions,
        confirmations,
        passkeys,
        identity.second_factors,
        identity.single_sign_on,
        instance,
        TrustedAddresses(database, now, tokens),
        OwnerWarnings(database, foundation.supervisor, mail_warning),
        EmailVerification(accounts, VerificationTokens(foundation.secret_key), mail_verification),
    ]
    foundation.periodic_tasks.append(
        PeriodicTask(
            "deleted-accounts",
            EVERY_SECONDS,
            identity.forgetting.run_due,
            "takes the addresses of deleted accounts out of the audit trail",
            by_one_worker=True,
        )
    )
    foundation.periodic_tasks.append(
        PeriodicTask(
            "account-purge",
            _PURGE_SECONDS,
            lambda: identity.purge(passed_time()),
            "deletes expired sessions, tokens and codes of accounts",
            by_one_worker=True,
        )
    )
    hashes.export_metrics(foundation.metrics)
    return identity


def _make_http(foundation: Foundation) -> "httpx.AsyncClient | None":
    """The client for calls to identity providers, if there are any. It trusts the machine's certificates."""
    if not foundation.settings.oidc_providers:
        return None
    import httpx  # noqa: PLC0415 -- only where the settings ask

    verify, transport = ssl.create_default_context(), None
    if foundation.tracing is not None:
        from flagstaff.telemetry.otel.outgoing import TracedTransport  # noqa: PLC0415 -- only where the settings ask

        transport = TracedTransport(foundation.tracing, verify=verify, trust_env=False)
    return httpx.AsyncClient(verify=verify, trust_env=False, follow_redirects=False, transport=transport)


def _make_provider_clients(foundation: Foundation, http: "httpx.AsyncClient | None") -> "dict[str, ProviderClient]":
    if http is None:
        return {}
    from flagstaff.accounts.single_sign_on.oidc import ProviderClient  # noqa: PLC0415 -- only where the settings ask

    redirect_uri = f"{foundation.settings.public_url}{CALLBACK_PATH}"
    return {
        each.key: ProviderClient(each, redirect_uri=redirect_uri, now=foundation.now, http=http)
        for each in foundation.settings.oidc_providers
    }
