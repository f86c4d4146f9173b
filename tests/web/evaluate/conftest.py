"""What the tests of evaluate share: the event loop is the one that serves."""

from asyncio import AbstractEventLoop
from collections.abc import Callable, Mapping

import pytest
import uvloop


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], AbstractEventLoop]]:
    """Uvloop's transports differ from asyncio's in what they do at a half-close and with a full buffer."""
    return {"uvloop": uvloop.new_event_loop}
