"""The first account of the instance, which is its administrator."""

import pytest

from tests.support.api import Caller
from tests.web.conftest import SignUp


@pytest.fixture
def beginning() -> None:
    """Nobody has registered yet, because the first account is the administrator."""


@pytest.fixture
async def root(sign_up: SignUp) -> Caller:
    """The administrator. Take it before other signed-in users, so that it is the first."""
    return await sign_up("root")
