"""The small site of the strategies' tests, indexed: one for all tests of a module."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.fakes.site import IndexedSite, indexed_site
from tests.integration.navigator.strategies.setting import PAGES


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[IndexedSite]:
    async with indexed_site(tmp_path_factory.mktemp("site"), PAGES) as open_site:
        yield open_site
