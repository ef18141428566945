"""Qdrant for tests, benches and `make cluster`: the server that RITBOT_TEST_QDRANT_URL names, else the stand-in.

A server that is there already is somebody's: whatever a run makes on it begins with RUN, and is gone when it ends.
"""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.fakes.qdrant_server import QdrantServer

URL = "RITBOT_TEST_QDRANT_URL"
RUN = f"test-{uuid4().hex[:8]}"
"""What the names of this run's collections begin with."""


@dataclass(frozen=True)
class Served:
    """`stand_in` is None where the server is a real one: it cannot be made to fail."""

    url: str
    stand_in: QdrantServer | None = None


def own_name(kind: str = "") -> str:
    """A name for stores that nobody else has."""
    return f"{RUN}-{kind or uuid4().hex[:12]}"


@contextmanager
def served(folder: Path) -> Iterator[Served]:
    """`folder` is the stand-in's."""
    if url := os.environ.get(URL):
        try:
            yield Served(url.rstrip("/"))
        finally:
            _sweep(url.rstrip("/"))
        return
    with QdrantServer(folder) as server:
        yield Served(server.url, server)


def _sweep(url: str) -> None:
    """Aliases go with their collections."""
    for each in _asked("GET", f"{url}/collections")["collections"]:
        if each["name"].startswith(RUN):
            _asked("DELETE", f"{url}/collections/{each['name']}")


def _asked(method: str, url: str) -> Any:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(urllib.request.Request(url, method=method)) as answer:
        return json.loads(answer.read())["result"]
