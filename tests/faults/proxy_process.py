"""A TCP proxy in a process of its own: `python -m tests.faults.proxy_process TARGET_PORT LINKS [NAMESPACE=ADDRESS …]`.

The first links listen at the addresses in network namespaces, if any are given. It prints the ports of its links as
JSON, and then answers each line `{"link": 0, "state": "dropped", …}` with `true`.
The states of a link:

- open: everything is passed on.
- dropped: nothing is passed on, and neither side is notified. Data that was sent arrives when the link opens again.
- half_open: what the instance sends is passed on, but no answer is.
- refused: connections are reset, and new ones refused.
- reset: connections are reset, and new ones as soon as they are accepted.
- slow: each piece is delayed by `seconds`.
"""

import asyncio
import json
import socket
import struct
import sys
from contextlib import nullcontext, suppress

from tests.faults.namespaces import inside

_CHUNK = 65536
_RESET = struct.pack("ii", 1, 0)


class Link:
    """One listening port, and its connections to the target."""

    def __init__(self, target: int, namespace: str | None = None, address: str = "127.0.0.1") -> None:
        self.target = target
        self._namespace = namespace
        self._address = address
        self.port = 0
        self._resets = False
        self._seconds = 0.0
        self._gates = {"there": asyncio.Event(), "back": asyncio.Event()}
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._listener: asyncio.Server | None = None

    async def listen(self) -> None:
        """Accept connections."""
        if self._listener is None:
            with inside(self._namespace) if self._namespace else nullcontext():
                listener = socket.create_server((self._address, self.port))
            self._listener = await asyncio.start_server(self._accept, sock=listener)
            self.port = listener.getsockname()[1]

    async def change(self, state: str, seconds: float) -> None:
        """Change to another state."""
        self._seconds = seconds
        self._resets = state == "reset"
        for name, is_shut in (("there", state == "dropped"), ("back", state in ("dropped", "half_open"))):
            gate = self._gates[name]
            gate.clear() if is_shut else gate.set()
        if state == "refused" and self._listener is not None:
            self._listener.close()
            self._listener = None
        if state in ("refused", "reset"):
            self.cut()
        if state != "refused":
            await self.listen()

    def cut(self) -> None:
        """Reset all connections, on both sides."""
        for writer in tuple(self._writers):
            _reset(writer)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._resets:
            _reset(writer)
            return
        self._writers.add(writer)
        try:
            await self._gates["there"].wait()
            target_reader, target_writer = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            _reset(writer)
            self._writers.discard(writer)
            return
        self._writers.add(target_writer)
        if writer.is_closing():  # the link was cut while the other side was connecting
            _reset(target_writer)
        for name, source, sink in (("there", reader, target_writer), ("back", target_reader, writer)):
            task = asyncio.create_task(self._pump(self._gates[name], source, sink))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pump(self, gate: asyncio.Event, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while piece := await source.read(_CHUNK):
                if self._seconds:
                    await asyncio.sleep(self._seconds)
                await gate.wait()
                sink.write(piece)
                await sink.drain()
        await gate.wait()
        sink.close()
        self._writers.discard(sink)


def _reset(writer: asyncio.StreamWriter) -> None:
    connected = writer.get_extra_info("socket")
    with suppress(OSError):
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    writer.transport.abort()


async def main(target: int, count: int, places: list[str]) -> None:
    """Serve until standard input ends."""
    links = [Link(target, *place.split("=")) for place in places]
    links += [Link(target) for _ in range(count - len(places))]
    for link in links:
        await link.change("open", 0)
    print(json.dumps([link.port for link in links]), flush=True)
    commands = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    while line := await commands.readline():
        command = json.loads(line)
        link = links[command["link"]]
        link.target = command.get("target", link.target)
        if command.get("cut"):
            link.cut()
        if "state" in command:
            await link.change(command["state"], command.get("seconds", 0))
        print("true", flush=True)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
