"""A flag that is off, and a metric of errors."""

import pytest

from tests.support.api import Caller, Json, flag_path
from tests.support.releases import create_metric


@pytest.fixture
async def flag(ada: Caller, environment: Json) -> Json:
    """A flag of Ada's in production, which is off."""
    return await ada.create_flag(environment, enabled=False)


@pytest.fixture
def path(flag: Json) -> str:
    """The path of its releases."""
    return f"{flag_path(flag)}/releases"


@pytest.fixture
async def metric(ada: Caller, project: Json) -> Json:
    """A metric of errors."""
    return await create_metric(ada, project)


@pytest.fixture
def environ() -> dict[str, str]:
    """Many users are evaluated from one address."""
    return {"FLAGSTAFF_EVALUATE_RATE_LIMIT": "off"}
