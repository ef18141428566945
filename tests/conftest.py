"""What all tests share: real input where it is there, silence, one hypothesis profile, no network.

Real pages and questions lie in a folder called `shared` beside the checkout, or where RITBOT_SHARED
says. Tests that need them ask for the fixture `shared` and are skipped, with the reason, where it is
missing.
"""

from __future__ import annotations

import ipaddress
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import structlog
from hypothesis import HealthCheck, settings

from tests.fakes.docsite import DocSite
from tests.fakes.messages_api import MessagesApi
from tests.fakes.slack import FakeSlack
from tests.servers.kafka import Kafka
from tests.servers.opensearch import OpenSearch
from tests.servers.qdrant import served

ROOT = Path(__file__).resolve().parent.parent

# No test may ask a model hub, not even one that starts a process of its own, and none goes through a proxy.
os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "NO_PROXY": "*", "no_proxy": "*"}

# Three parts run side by side, with what they start: a second thread that embeds finds no core, and waits in a loop. With
# one, a command that loads the model takes half of the time.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Commands that tests start need not compile every module anew, whatever the shell says.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A shell that runs the tests in the background ignores SIGINT for them, and so would all that they start and interrupt.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A slow machine is no failure (deadline), and CI tries the same examples every time (derandomize).
settings.register_profile("here", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("here"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")


def _loopback_only(event: str, arguments: tuple[object, ...]) -> None:
    """An audit hook: a test that reaches for another machine fails, whatever it does with errors."""
    if event in ("socket.connect", "socket.sendto"):
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else None
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = arguments[0]
    else:
        return
    if isinstance(host, (bytes, bytearray)):
        host = host.decode("ascii", "replace")
    if isinstance(host, str) and not is_loopback(host):
        pytest.fail(f"A test reached for {host}: tests talk to this machine only.")


def is_loopback(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host in ("", "localhost")
    return address.is_loopback or address.is_unspecified


sys.addaudithook(_loopback_only)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with real input."""
    folder = Path(os.environ.get("RITBOT_SHARED") or ROOT.parent / "shared")
    if not folder.is_dir():
        pytest.skip(f"REAL INPUT IS MISSING: there is no folder {folder}; RITBOT_SHARED can name another")
    return folder


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    """A broker for all tests: topics and groups need names of their own."""
    with Kafka(tmp_path_factory.mktemp("kafka")) as kafka:
        yield kafka


@pytest.fixture(scope="session")
def opensearch() -> Iterator[OpenSearch]:
    """One node for all tests, which take indexes of their own on it."""
    with OpenSearch() as node:
        yield node


@pytest.fixture(scope="session")
def qdrant(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the server that RITBOT_TEST_QDRANT_URL names, else of one of ours. Collections get an `own_name`."""
    with served(tmp_path_factory.mktemp("qdrant")) as server:
        yield server.url


@pytest.fixture
async def docs() -> AsyncIterator[DocSite]:
    async with DocSite() as server:
        yield server


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack() as fake:
        yield fake


@pytest.fixture
async def api() -> AsyncIterator[MessagesApi]:
    """A scripted Messages API."""
    async with MessagesApi() as scripted:
        yield scripted


@pytest.fixture(autouse=True, scope="session")
def _quiet() -> None:
    """Events are rendered and dropped."""
    structlog.configure(
        processors=[structlog.contextvars.merge_contextvars, structlog.processors.JSONRenderer()],
        logger_factory=structlog.ReturnLoggerFactory(),
    )
