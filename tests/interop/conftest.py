"""The fixtures that the tests share with tests/sdks."""

from tests.sdks.test_unleash import shop, sqlite

__all__ = ["shop", "sqlite"]
