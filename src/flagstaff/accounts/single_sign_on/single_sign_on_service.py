"""Single sign-on: people sign in at identity providers, and get accounts and roles by what these say."""

import hmac
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import structlog

from flagstaff.accounts.single_sign_on import identities_store
from flagstaff.accounts.single_sign_on.group_roles import apply_groups
from flagstaff.accounts.single_sign_on.identities import SIGN_IN_LIFETIME, Identity, Person, SignIn
from flagstaff.changes.changes import Actor
from flagstaff.database.database import Database, Transaction
from flagstaff.identity.accounts import accounts_store
from flagstaff.identity.accounts.account_changes import create_account, replace_password, verify_email
from flagstaff.identity.accounts.accounts import Account
from flagstaff.identity.accounts.passwords import Passwords
from flagstaff.identity.administration.instance_service import Instance
from flagstaff.identity.second_factors import second_factors_store
from flagstaff.identity.sessions.tokens import hash_token
from flagstaff.settings.providers import Provider
from flagstaff.values.emails import check_email, domain_of
from flagstaff.values.errors import Code, Error, not_found

if TYPE_CHECKING:  # loaded only if the settings name a provider
    from flagstaff.accounts.single_sign_on.oidc import ProviderClient

log = structlog.get_logger(__name__)

_ENDED = "This sign-in is unknown, has been completed or has expired, or was begun in another browser."
_FEWER_GROUPS = "The roles stay as they are. Let the provider send only groups that are assigned to the application."


@dataclass(frozen=True, slots=True)
class Begun:
    """A sign-in: where the browser goes, and what it must keep and send with the provider's answer."""

    authorization_url: str
    binding: str


@dataclass(frozen=True, slots=True)
class SignedIn:
    """The account of a sign-in, the page to go on with, and where the session at the provider is ended."""

    account: Account
    return_to: str
    logout_url: str | None
    has_shown_factor: bool
    """Whether a second factor was shown at the provider, so that no other is asked for."""


@dataclass(frozen=True, slots=True)
class SingleSignOn:
    """The use cases of single sign-on."""

    database: Database
    now: Callable[[], datetime]
    passwords: Passwords
    clients: "Mapping[str, ProviderClient]"  # by the provider's key
    instance: Instance
    public_url: str

    def list_providers(self) -> list[Provider]:
        """The providers, in the order of the setting."""
        return [client.provider for client in self.clients.values()]

    def require_password_login(self, email: str) -> None:
        """Raise Error FORBIDDEN if accounts with such an address can sign in only at a provider."""
        provider = self._provider_of(email)
        if provider is not None and not provider.password_login:
            raise Error(
                Code.FORBIDDEN,
                f"Accounts of {domain_of(email)} sign in with {provider.name}, not with a password.",
                extensions={"provider": provider.key},
            )

    def allows_password_login(self, email: str) -> bool:
        """Return whether accounts with such an address can sign in with a password."""
        provider = self._provider_of(email)
        return provider is None or provider.password_login

    async def begin(self, provider: str, *, return_to: str) -> Begun:
        """Begin a sign-in, which must be completed within ten minutes; raises Error NOT_FOUND, UNAVAILABLE."""
        if provider not in self.clients:
            raise not_found("provider")
        state, binding, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(4))
        url = await self.clients[provider].authorization_url(state=state, nonce=nonce, verifier=verifier)
        sign_in = SignIn(provider, nonce, verifier, hash_token(binding), return_to)
        async with self.database.transaction() as transaction:
            await identities_store.create_sign_in(
                transaction.connection, hash_token(state), sign_in, expires_at=self.now() + SIGN_IN_LIFETIME
            )
        return Begun(url, binding)

    async def complete(self, *, state: str, code: str, binding: str, issuer: str | None) -> SignedIn:
        """The account of whoever has signed in, created if necessary.

        Raises:
            Error: UNAUTHENTICATED for a state that is unknown, used, expired or another browser's, or if anything that
                the provider says is not as it must be; FORBIDDEN if the person may not have an account, CONFLICT if
                one with this address exists that the provider may not open, UNAVAILABLE.
        """
        async with self.database.transaction() as transaction:
            # It ends with the first answer, whatever comes of it, so that no code is ever sent twice.
            sign_in = await identities_store.take_sign_in(transaction.connection, hash_token(state), self.now())
        client = self.clients.get(sign_in.provider) if sign_in else None
        if sign_in is None or client is None or not hmac.compare_digest(sign_in.binding_hash, hash_token(binding)):
            log.warning("sign_in_refused", provider=sign_in and sign_in.provider, reason=_ENDED)
            raise Error(Code.UNAUTHENTICATED, f"{_ENDED} Sign in again.")
        answer = await client.redeem(code=code, verifier=sign_in.verifier, nonce=sign_in.nonce, issuer=issuer)
        provider, person = client.provider, answer.person
        try:
            account = await self._open(provider, person)
        except Error as error:
            if error.code in (Code.FORBIDDEN, Code.CONFLICT):
                log.warning("sign_in_refused", provider=provider.key, reason=error.message)
            raise
        if not account.is_active:
            log.warning("sign_in_refused", provider=provider.key, reason="The account is deactivated.")
        elif person.groups is None:
            log.warning("groups_left_out", provider=provider.key, account_id=str(account.id), advice=_FEWER_GROUPS)
        else:
            await apply_groups(self.database, provider, account, person.groups, self.now())
        logout_url = await client.end_session_url(answer.id_token, f"{self.public_url}/")
        return SignedIn(account, sign_in.return_to, logout_url, person.has_shown_factor)

    async def purge(self, now: datetime | None = None) -> None:
        """Delete the sign-ins that have expired by `now`."""
        async with self.database.transaction() as transaction:
            await identities_store.delete_expired_sign_ins(transaction.connection, now or self.now())

    def _provider_of(self, email: str) -> Provider | None:
        """The provider that knows whose the addresses of this domain are, if there is one."""
        domain = domain_of(email.strip())
        return next((each for each in self.list_providers() if domain in each.domains), None)

    async def _open(self, provider: Provider, person: Person) -> Account:
        async with self.database.read() as connection:
            known = await identities_store.find_identity(connection, person.issuer, person.subject)
            account = await accounts_store.find_account(connection, known.account_id) if known else None
        if known is not None and account is not None:
            self._require_domain(provider, account.email)
            is_only_way = self._is_only_way(person, account.email)
            if known.is_only_way != is_only_way:
                async with self.database.transaction() as transaction:
                    await identities_store.set_only_way(transaction.connection, known, is_only_way=is_only_way)
            return account
        email = self._admitted_email(provider, person)
        # Nobody knows this password: the provider is the way in, unless the owner sets another by mail.
        password_hash = await self.passwords.hash(secrets.token_urlsafe(32))
        async with self.database.transaction() as transaction:
            account = await self._create_or_take_over(transaction, provider, email, password_hash)
            is_only_way = self._is_only_way(person, email)
            identity = Identity(person.issuer, person.subject, account.id, self.now(), is_only_way)
            await identities_store.create_identity(transaction.connection, identity)
        return account

    def _is_only_way(self, person: Person, email: str) -> bool:
        """Return whether nothing but the provider opens an account, and a second factor was shown there."""
        return person.has_shown_factor and not self.allows_password_login(email)

    def _admitted_email(self, provider: Provider, person: Person) -> str:
        """The address of a person who may have an account; raises Error FORBIDDEN."""
        if person.email is None:
            raise Error(Code.FORBIDDEN, f"{provider.name} {person.email_problem}.")
        try:
            email = check_email(person.email)
        except ValueError:
            raise Error(Code.FORBIDDEN, f"The email address at {provider.name} cannot be used here.") from None
        self._require_domain(provider, email)
        return email

    def _require_domain(self, provider: Provider, email: str) -> None:
        """Raise Error FORBIDDEN if addresses of this domain belong to another provider, or to none of this one."""
        owner = self._provider_of(email)
        if (provider.domains or owner is not None) and owner is not provider:
            raise Error(Code.FORBIDDEN, f"Addresses of {domain_of(email)} cannot sign in with {provider.name}.")

    async def _create_or_take_over(
        self, transaction: Transaction, provider: Provider, email: str, password_hash: str
    ) -> Account:
        connection, now = transaction.connection, self.now()
        present = await accounts_store.find_account_by_email(connection, email)
        if present is None:
            if not provider.domains and not await self.instance.is_registration_open_within(connection):
                raise Error(Code.FORBIDDEN, "Registration is closed on this server. Ask its operator for an account.")
            return await create_account(transaction, email, password_hash, now, is_verified=True)
        if not provider.domains:
            raise Error(
                Code.CONFLICT,
                f"An account with this address exists already, and {provider.name} is not configured to open it. Log "
                f"in "
                "with its password, or ask the operator to list the domain of the address for the provider.",
            )
        # Addresses of accounts are not verified, so somebody else may have registered with this one in advance. The
        # provider knows whose it is: every other way into the account ends.
        await accounts_store.lock_account(connection, present.id)
        await second_factors_store.delete_second_factors(connection, present.id)
        await identities_store.delete_identities(connection, present.id)
        present = await verify_email(transaction, present, now)
        actor, action = Actor(present.id, present.email), "account.taken_over"
        return await replace_password(transaction, actor, present, password_hash, action, now, ends_tokens=True)
