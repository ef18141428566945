"""Asking the process that holds a data folder: HTTP over a Unix domain socket in the folder, for its owner only.

    POST /ask     ritbot-protocol: 2     {"question": "…"}
    200           {"done": {…}}      or      {"refused": "a sentence for the user"}

Another version of the protocol is refused. A client that hangs up before it has the reply cancels the work. A socket file
that a killed process left behind answers nobody, and the next holder of the folder replaces it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ingest.errors import IngestError

Fields = dict[str, Any]
"""A JSON object."""
PROTOCOL = {"ritbot-protocol": "2"}
"""The header that names the protocol's version."""
INDEX = "index"
"""What the request to index sites is called."""
NAME = "socket"
MAX_PATH_BYTES = 100
"""Of a path that every kernel takes for a socket: Linux takes 107, macOS 103."""
MAX_MESSAGE_BYTES = 32_000_000
"""Of a request or a reply."""

OTHER_VERSION = (
    "the process that holds the data folder is another version of ritbot than this one: stop it, and start it again"
)


class NotAnswered(IngestError):
    """The process that holds the folder refused the request, or ended before it was done."""


async def listens(folder: Path) -> bool:
    """Whether the process that holds the folder takes requests."""
    try:
        with short_path(folder) as path:
            _, writer = await asyncio.open_unix_connection(path)
    except OSError:  # no socket, one that was left behind, or another user's
        return False
    writer.transport.abort()
    return True


async def request(folder: Path, do: str, fields: Fields) -> Fields:
    """What the holder of the folder has `done`. Cancelled, it cancels the work there too. Raises NotAnswered."""
    import httpx  # where nobody holds the folder it is not needed, and takes a tenth of a command's time

    sent = json.dumps(fields).encode()
    if len(sent) > MAX_MESSAGE_BYTES:
        raise NotAnswered(too_long(len(sent)))
    try:
        with short_path(folder) as path:
            async with (
                httpx.AsyncClient(transport=httpx.AsyncHTTPTransport(uds=path), timeout=None) as client,
                client.stream("POST", f"http://ritbot/{do}", content=sent, headers=PROTOCOL) as response,
            ):
                if response.status_code != 200:
                    raise NotAnswered(_ended(folder))
                if int(response.headers.get("content-length", 0)) > MAX_MESSAGE_BYTES:
                    raise NotAnswered(f"the answer is longer than {MAX_MESSAGE_BYTES:,} bytes")
                return _done(await response.aread())
    except httpx.TransportError:
        raise NotAnswered(_ended(folder)) from None


def _done(body: bytes) -> Fields:
    """What a reply brings. Raises NotAnswered."""
    with contextlib.suppress(ValueError, LookupError, TypeError):
        reply: Any = json.loads(body)
        if "refused" in reply:
            raise NotAnswered(reply["refused"])
        done: Fields = reply["done"]
        return done
    raise NotAnswered(OTHER_VERSION)


def _ended(folder: Path) -> str:
    return (
        f"the process that holds {folder} ended before it had answered: try again; if it still runs, it is another version "
        "of ritbot than this one: stop it, and start it again"
    )


def too_long(size: int) -> str:
    return f"the request is too long: {size:,} bytes of at most {MAX_MESSAGE_BYTES:,}"


@contextlib.contextmanager
def short_path(folder: Path) -> Iterator[str]:
    """The socket's path, short enough for every kernel: where the folder's own is not, through a link to the folder."""
    path = folder / NAME
    if len(os.fsencode(path)) <= MAX_PATH_BYTES:
        yield str(path)
        return
    with TemporaryDirectory(prefix="ritbot-") as short:
        link = Path(short) / "at"
        link.symlink_to(folder.absolute())
        yield str(link / NAME)
