"""What the tests of whole commands share: one fork server, which ends with them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.forked import FORKS


@pytest.fixture(autouse=True, scope="session")
def _forks() -> Iterator[None]:
    yield
    FORKS.stop()
