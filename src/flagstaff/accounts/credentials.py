"""Bearer tokens of both kinds: of a session, and access tokens for machines."""

from functools import partial

from flagstaff.api.authentication import Credential
from flagstaff.identity.sessions.sessions_service import Sessions
from flagstaff.projects.access_tokens.access_tokens import PREFIX
from flagstaff.projects.access_tokens.access_tokens_service import AccessTokens, read_access_token


def read_credential(sessions: Sessions, access_tokens: AccessTokens, token: str) -> Credential:
    """The credential that a token is; raises Error UNAUTHENTICATED, without a query, if it can be none."""
    if token.startswith(PREFIX):
        return Credential(partial(access_tokens.authenticate, read_access_token(token)))
    claims = sessions.read_token(token)
    return Credential(partial(sessions.authenticate, claims), claims.account_id, claims.session_id)
