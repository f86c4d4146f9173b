"""Processes that tests start."""

from asyncio.subprocess import Process


async def kill(process: Process | None) -> None:
    """Kill a process (SIGKILL) if it is running, and wait for its end."""
    if process is not None and process.returncode is None:
        process.kill()
        await process.wait()
