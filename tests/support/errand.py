"""Work that ends when a test decides."""

import asyncio


class Errand:
    """Work that runs until it is released, and records how it ended."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.let_go = asyncio.Event()
        self.end = ""

    async def __call__(self) -> None:
        self.begun.set()
        try:
            await self.let_go.wait()
            self.end = "finished"
        except asyncio.CancelledError:
            self.end = "cancelled"
            raise
