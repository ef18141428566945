"""Asking the process that holds a data folder: a Unix domain socket in the folder, for its owner only.

One request a connection, one line of JSON each way:

    -> {"ritbot": 1, "do": "ask", "with": {"question": "…"}}
    <- {"ritbot": 1, "done": {…}}      or      {"ritbot": 1, "refused": "a sentence for the user"}

The number is the protocol's version; another one is refused. The client keeps its end open until it has the reply: when
it hangs up, the work is cancelled. A socket file that a killed process left behind answers nobody, and the next holder of
the folder replaces it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import structlog

from deploy.log import traced
from ingest.errors import IngestError

log = structlog.get_logger()

Json = dict[str, Any]
Work = Callable[[Json], Awaitable[Json]]
"""Does what one kind of request asks; what it raises of IngestError is told to the user."""

VERSION = 1
NAME = "socket"
LONGEST_PATH = 100
"""Bytes of a path that every kernel takes for a socket: Linux takes 107, macOS 103."""
LONGEST_LINE = 32_000_000
"""Bytes of a request or a reply."""
HURRY = 10.0
"""Seconds within which a client must have sent its request."""
GRACE = 20.0
"""Seconds for which requests in hand may go on when the server closes."""


OTHER_VERSION = (
    "the process that holds the data folder is another version of ritbot than this one: stop it, and start it again"
)


class NotAnswered(IngestError):
    """The process that holds the folder refused the request, or ended before it was done."""


class LocalServer:
    """`async with` listens; only the holder of the folder may. `work`: what it does, by the request's name. `grace` in
    seconds.

    Where the folder's file system knows no sockets a warning is logged and nobody is served."""

    def __init__(self, folder: Path, work: Mapping[str, Work], *, grace: float = GRACE) -> None:
        self._folder = folder
        self._work = work
        self._grace = grace
        self._accepting: asyncio.Task[None] | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._stopped = asyncio.Event()

    @property
    def path(self) -> Path | None:
        """Where it listens; None where it does not."""
        return self._folder / NAME if self._accepting and not self._stopped.is_set() else None

    async def __aenter__(self) -> Self:
        try:
            listener = _listening(self._folder)
        except OSError as error:
            log.warning("local_socket_unavailable", folder=str(self._folder), reason=str(error))
            return self
        self._accepting = asyncio.create_task(self._accept(listener))
        self._accepting.add_done_callback(lambda _: listener.close())
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.stop()
        await self.run()

    def stop(self) -> None:
        """Take no new requests."""
        if self._accepting and not self._stopped.is_set():
            self._accepting.cancel()
            (self._folder / NAME).unlink(missing_ok=True)
        self._stopped.set()

    async def run(self) -> None:
        """Until `stop`; then requests in hand may go on for the grace, and are cancelled."""
        await self._stopped.wait()
        if self._connections:
            await asyncio.wait(self._connections, timeout=self._grace)
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = await asyncio.get_running_loop().sock_accept(listener)
            except OSError as error:  # no file descriptor is left: clients wait meanwhile
                log.warning("local_socket_busy", reason=str(error))
                await asyncio.sleep(1.0)
                continue
            task = asyncio.create_task(self._serve(connection))
            self._connections.add(task)
            task.add_done_callback(self._connections.discard)

    async def _serve(self, connection: socket.socket) -> None:
        reader, writer = await asyncio.open_unix_connection(sock=connection, limit=LONGEST_LINE)
        try:
            async with asyncio.timeout(HURRY):
                line = await _line(reader)
            if line and (reply := await self._while_there(reader, line)) is not None:
                writer.write(_dumped(reply))
                writer.close()
                await writer.wait_closed()
        except (OSError, ValueError, TimeoutError) as error:  # it went away, says nothing, or does not end
            log.info("local_client_lost", reason=repr(error))
        finally:
            writer.transport.abort()

    async def _while_there(self, reader: asyncio.StreamReader, line: bytes) -> Json | None:
        """The reply, or None where the client hung up before it was there."""
        working = asyncio.create_task(self._reply(line))
        hanging_up = asyncio.create_task(reader.read(1))
        try:
            await asyncio.wait({working, hanging_up}, return_when=asyncio.FIRST_COMPLETED)
            if working.done():
                return working.result()
            log.info("local_request_cancelled")
            return None
        finally:
            for task in (working, hanging_up):
                task.cancel()
            await asyncio.gather(working, hanging_up, return_exceptions=True)

    async def _reply(self, line: bytes) -> Json:
        with traced() as trace_id:
            try:
                work, fields = self._understood(line)
                return {"done": await work(fields)}
            except IngestError as error:
                return {"refused": str(error)}
            except Exception:  # a defect of ours: the process goes on, and its log says what happened
                log.exception("local_request_failed")
                return {"refused": f"the process that holds the data folder failed (trace id {trace_id} in its log)"}

    def _understood(self, line: bytes) -> tuple[Work, Json]:
        """Raises NotAnswered."""
        try:
            request: Any = json.loads(line)
            version, do, fields = request["ritbot"], request.get("do"), request.get("with")
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise NotAnswered("the request is not understood") from None
        if version != VERSION:
            raise NotAnswered(OTHER_VERSION)
        if not isinstance(do, str) or do not in self._work or not isinstance(fields, dict):
            raise NotAnswered(f"there is no such request: {do!r}")
        return self._work[do], fields


async def listens(folder: Path) -> bool:
    """Whether the process that holds the folder takes requests."""
    connection = await _connected(folder)
    if connection is None:
        return False
    connection[1].transport.abort()
    return True


async def request(folder: Path, do: str, fields: Json) -> Json:
    """What the holder of the folder has `done`. Cancelled, it cancels the work there too. Raises NotAnswered."""
    sent = _dumped({"do": do, "with": fields})
    if len(sent) > LONGEST_LINE:
        raise NotAnswered(f"the request is too long: {len(sent):,} bytes of at most {LONGEST_LINE:,}")
    gone = f"the process that holds {folder} ended before it had answered: try again"
    connection = await _connected(folder)
    if connection is None:
        raise NotAnswered(gone)
    reader, writer = connection
    try:
        writer.write(sent)
        await writer.drain()
        line = await _line(reader)
    except OSError:
        raise NotAnswered(gone) from None
    except ValueError:
        raise NotAnswered(f"the answer is longer than {LONGEST_LINE:,} bytes") from None
    finally:
        writer.transport.abort()
    if not line:
        raise NotAnswered(gone)
    return _done(line)


def _done(line: bytes) -> Json:
    """What a reply brings. Raises NotAnswered."""
    try:
        reply: Any = json.loads(line)
        if "refused" in reply:
            raise NotAnswered(reply["refused"])
        if reply["ritbot"] == VERSION:
            done: Json = reply["done"]
            return done
    except (ValueError, LookupError, TypeError):
        pass
    raise NotAnswered(OTHER_VERSION)


async def _connected(folder: Path) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
    try:
        with _short(folder) as path:
            return await asyncio.open_unix_connection(path, limit=LONGEST_LINE)
    except OSError:  # no socket, one that was left behind, or another user's
        return None


async def _line(reader: asyncio.StreamReader) -> bytes:
    """A whole line; b"" where the other side hung up before its end. Raises ValueError for one that is too long."""
    line = await reader.readline()
    return line if line.endswith(b"\n") else b""


def _dumped(message: Json) -> bytes:
    return json.dumps({"ritbot": VERSION, **message}).encode() + b"\n"


def _listening(folder: Path) -> socket.socket:
    """It takes nobody before it is the owner's alone."""
    listener = socket.socket(socket.AF_UNIX)
    try:
        (folder / NAME).unlink(missing_ok=True)
        with _short(folder) as path:
            listener.bind(path)
        (folder / NAME).chmod(0o600)
        listener.listen(256)
        listener.setblocking(False)
    except BaseException:
        listener.close()
        raise
    return listener


@contextlib.contextmanager
def _short(folder: Path) -> Iterator[str]:
    """The socket's path, short enough for every kernel: where the folder's own is not, through a link to the folder."""
    path = folder / NAME
    if len(os.fsencode(path)) <= LONGEST_PATH:
        yield str(path)
        return
    with TemporaryDirectory(prefix="ritbot-") as short:
        link = Path(short) / "at"
        link.symlink_to(folder.absolute())
        yield str(link / NAME)
