"""Password hashing: Argon2id, off the event loop, a few at a time."""

import asyncio
import secrets
from base64 import b64encode
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.low_level import ARGON2_VERSION

from flagstaff.domain.errors import unavailable

# RFC 9106, 4: the second recommended option (t=3, p=4, 64 MiB), which is also argon2-cffi's default.
TIME_COST, MEMORY_COST_KIB, PARALLELISM = 3, 64 * 1024, 4
# Each hash takes 64 MiB for its time, so a flood of logins must queue rather than fill the memory.
_WORKERS = 2
_QUEUE = 128  # some seconds of work; who came after that would have given up before their turn

T = TypeVar("T")


class Passwords:
    """Hashes and verifies passwords in its own threads; raises Error UNAVAILABLE when too many wait for them."""

    def __init__(self, *, time_cost: int = TIME_COST, memory_cost_kib: int = MEMORY_COST_KIB) -> None:
        self._hasher = PasswordHasher(
            time_cost=time_cost, memory_cost=memory_cost_kib, parallelism=PARALLELISM, type=Type.ID
        )
        self._waiting = 0
        self._threads = ThreadPoolExecutor(_WORKERS, thread_name_prefix="password")
        self._nobody = _made_up_hash(self._hasher)

    async def hash(self, password: str) -> str:
        """The password's Argon2id hash, with its salt and parameters."""
        return await self._run(self._hasher.hash, password)

    async def verify(self, password: str, password_hash: str | None) -> bool:
        """Whether the password is the hashed one; for no hash at all, False after just as long."""
        return await self._run(self._verify, password, password_hash)

    def close(self) -> None:
        """Let the threads end."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _run(self, work: Callable[..., T], *arguments: str | None) -> T:
        if self._waiting >= _QUEUE:
            raise unavailable("Too many people are logging in at once. Try again shortly.")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work, *arguments)
        finally:
            self._waiting -= 1

    def _verify(self, password: str, password_hash: str | None) -> bool:
        try:
            return self._hasher.verify(password_hash or self._nobody, password) and password_hash is not None
        except (VerificationError, InvalidHashError):
            return False


def _made_up_hash(hasher: PasswordHasher) -> str:
    """What stands in for accounts that do not exist, so that they take as long as others: no password leads to it.

    It is not computed, which took a seventh of the server's start. The format is the reference implementation's.
    """
    salt, digest = (
        b64encode(secrets.token_bytes(size)).rstrip(b"=").decode() for size in (hasher.salt_len, hasher.hash_len)
    )
    costs = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    return f"$argon2id$v={ARGON2_VERSION}${costs}${salt}${digest}"
