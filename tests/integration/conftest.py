"""What conversations are tried with: a fake Slack, and a scripted Messages API."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.fakes.messages_api import MessagesApi
from tests.fakes.slack import FakeSlack


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack() as fake:
        yield fake


@pytest.fixture
async def api() -> AsyncIterator[MessagesApi]:
    async with MessagesApi() as scripted:
        yield scripted
