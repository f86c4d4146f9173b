"""The exchange between instances through Valkey, or a server that speaks its protocol. Nothing readable is kept there.

Each exchange is one call of the script `tell.lua`, which uses Valkey's clock alone.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from hashlib import blake2b
from importlib.resources import files

from valkey.asyncio import Valkey
from valkey.asyncio.retry import Retry
from valkey.backoff import NoBackoff
from valkey.exceptions import ValkeyError

from flagstaff.limits.exchange import FROM_NOW, Heard, Told, UnreachableError

# An answer takes less than a millisecond. A server that has not answered after this time hangs.
ANSWER_SECONDS = 1.0
_CLOSE_SECONDS = 0.5
_MICROSECONDS = 1e6


class ValkeyExchange:
    """A channel between instances through Valkey."""

    advice = "check FLAGSTAFF_VALKEY_URL and the server that it names; until then, each instance limits on its own"

    def __init__(self, url: str, secret: str) -> None:
        """`url` is a valid FLAGSTAFF_VALKEY_URL. Instances with the same `secret` exchange their hits.

        Other installations can use the same server: the names of keys begin with `flagstaff:` and a digest of the
        secret.
        """
        is_encrypted = url.startswith(("valkeys:", "rediss:"))
        self._client = Valkey.from_url(
            url,
            socket_timeout=ANSWER_SECONDS,
            socket_connect_timeout=ANSWER_SECONDS,
            retry=Retry(NoBackoff(), 0),  # hits would be counted twice
            **({"ssl_check_hostname": True} if is_encrypted else {}),
        )
        installation = blake2b(
            b"flagstaff valkey " + secret.encode("utf-8", "surrogatepass"), digest_size=6
        ).hexdigest()
        # In a cluster, keys with the same text in braces are on one server, which the script demands.
        self._prefix = f"flagstaff:{{{installation}}}:".encode()
        self._instance = secrets.token_hex(8)
        script = files(__package__).joinpath("tell.lua").read_text(encoding="utf-8")
        self._script = self._client.register_script(script)
        self._participants = 1

    @property
    def participants(self) -> int:
        """The number of instances that have told something, or joined, within the last seconds."""
        return self._participants

    async def join(self) -> None:
        """Begin to take part, or say that this instance still does; raises UnreachableError."""
        await self._call([])

    async def tell(self, told: Sequence[Told]) -> Sequence[Heard]:
        """Tell the others, and return what they have told about the same keys; raises UnreachableError."""
        epoch, lines = await self._call(told)
        return [_heard(line, epoch) for line in lines]

    async def close(self) -> None:
        """Leave the others, and close the connection."""
        with suppress(UnreachableError):
            async with _errors_explained(_CLOSE_SECONDS):
                await self._client.zrem(self._prefix + b"instances", self._instance)
        await self.disconnect()

    async def ping(self) -> None:
        """Return if the server answers, without taking part; raises UnreachableError."""
        async with _errors_explained(2 * ANSWER_SECONDS):
            await self._client.ping()

    async def disconnect(self) -> None:
        """Close the connection."""
        with suppress(UnreachableError):
            async with _errors_explained(_CLOSE_SECONDS):
                await self._client.aclose()

    async def _call(self, told: Sequence[Told]) -> tuple[bytes, Sequence[bytes]]:
        """The epoch, and the script's answers, a line for each key."""
        keys = [self._prefix + b"epoch", self._prefix + b"instances"]
        keys += [self._prefix + each.digest for each in told]
        arguments: list[str | bytes] = [self._instance, *(_argument(each) for each in told)]
        async with _errors_explained(2 * ANSWER_SECONDS):
            answer: bytes = await self._script(keys=keys, args=arguments)
        state, *lines = answer.split(b"\n")
        epoch, participants = state.split(b" ")
        self._participants = max(1, int(participants))
        return epoch, lines


def _argument(told: Told) -> bytes:
    position = b"0 0 0" if told.position is None else b"-1 0 0" if told.position is FROM_NOW else told.position
    assert isinstance(position, bytes)
    return b"%d %d %b" % (told.window_seconds, told.hits, position)


def _heard(line: bytes, epoch: bytes) -> Heard:
    slot, total, *rest = line.split(b" ")
    ages, numbers = rest[::2], rest[1::2]
    hits = [(float(age) / _MICROSECONDS, int(number)) for age, number in zip(ages, numbers, strict=True)]
    return Heard(hits, b"%b %b %b" % (slot, total, epoch))


@asynccontextmanager
async def _errors_explained(seconds: float) -> AsyncIterator[None]:
    """Raise UnreachableError for all that the client or the server says, and after this time."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise UnreachableError(f"Valkey has not answered for {seconds:g} seconds.") from error
    except (ValkeyError, OSError, RuntimeError) as error:  # uvloop's RuntimeError: the connection was reset meanwhile
        raise UnreachableError(f"Valkey cannot be used: {error}") from error
