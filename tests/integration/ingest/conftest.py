"""A whole pipeline over a documentation site on a server of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from ingest.model import Site
from tests.fakes.docsite import DocSite
from tests.fakes.pipeline import Pipeline, pipeline


@pytest.fixture
async def pipe(docs: DocSite) -> AsyncIterator[Pipeline]:
    async with pipeline(Site("docs", docs.url("/"), allow_private=True, obey_robots=False)) as pipe:
        yield pipe
