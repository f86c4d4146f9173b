"""A second environment."""

import pytest

from tests.support.api import Caller, Json


@pytest.fixture
async def staging(ada: Caller, project: Json) -> Json:
    """The `staging` of Ada's project, without flags."""
    return await ada.get_environment(project, "staging")
