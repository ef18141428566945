"""The role that answers the questions of other processes on this machine, through the socket of the data folder."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Self

import structlog
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from deploy.log import traced
from deploy.serving.answer_source import ASK, ASKED, Ask, asks
from deploy.serving.http import GRACE_SECONDS, make_server
from deploy.serving.local_socket import (
    INDEX,
    MAX_MESSAGE_BYTES,
    NAME,
    OTHER_VERSION,
    PROTOCOL,
    Fields,
    NotAnswered,
    short_path,
    too_long,
)
from deploy.serving.roles import Role
from deploy.serving.section_source import CITE, cited
from deploy.settings.messages import SettingsError
from deploy.wiring.navigation import open_navigator
from deploy.wiring.stores import Stores
from ingest.errors import IngestError
from navigator.codec import dump_answer
from navigator.navigator import Navigator

log = structlog.get_logger()

Work = Callable[[Fields], Awaitable[Fields]]
"""Does what one kind of request asks; what it raises of IngestError is told to the user."""

DRAIN_SECONDS = 20.0
"""For which requests in hand may go on when the server closes."""


@asynccontextmanager
async def open_local_answers(
    stores: Stores, navigator: Navigator, index: Work | None = None
) -> AsyncIterator[tuple[Role, ...]]:
    """One role, for as long as this is open; none on a cluster, where everybody asks the servers. `index`: how sites are
    indexed for others; None: they are told that they are not."""
    if stores.settings.stores.kind == "cluster":
        yield ()
        return
    work: dict[str, Work] = {
        ASK: answering(asks(stores, navigator)),
        CITE: partial(cited, stores),
        INDEX: index or _nothing,
    }
    async with LocalServer(stores.settings.index.folder, work) as server:
        yield (Role("local answers", server.run, server.stop),)


async def _nothing(_: Fields) -> Fields:
    return {}


@asynccontextmanager
async def answering_meanwhile(stores: Stores, languages: Sequence[str]) -> AsyncIterator[None]:
    """Questions are answered through the socket while the body holds the folder for other work. Where the settings of the
    model are wrong none is: whoever asks hears of it, and the work goes on."""
    async with AsyncExitStack() as stack:
        try:
            navigator = await stack.enter_async_context(open_navigator(stores, languages))
        except SettingsError as error:
            log.warning("no_local_answers", reason=str(error))
        else:
            await stack.enter_async_context(open_local_answers(stores, navigator))
        yield


def answering(ask: Ask) -> Work:
    """What the socket does with a question."""

    async def work(fields: Fields) -> Fields:
        try:
            asked = ASKED.validate_python(fields)
        except ValidationError:
            raise NotAnswered("the question is not understood") from None
        done: Fields = json.loads(dump_answer(await ask(asked)))
        return done

    return work


class LocalServer:
    """`async with` listens; only the holder of the folder may. `work`: what it does, by the request's name. `grace` in
    seconds.

    Where the folder's file system knows no sockets a warning is logged and nobody is served."""

    def __init__(self, folder: Path, work: Mapping[str, Work], *, grace: float = DRAIN_SECONDS) -> None:
        self._folder = folder
        self._work = work
        self._grace = grace
        app = Starlette(routes=[Route("/{do}", self._answer, methods=["POST"])])
        self._server = make_server(app, grace=grace + GRACE_SECONDS)  # what outlasts the grace is cancelled here
        self._serving: asyncio.Task[None] | None = None
        self._in_hand: set[asyncio.Task[Fields]] = set()
        self._stopped = asyncio.Event()

    @property
    def path(self) -> Path | None:
        """Where it listens; None where it does not."""
        return self._folder / NAME if self._serving and not self._stopped.is_set() else None

    async def __aenter__(self) -> Self:
        try:
            listener = _listening(self._folder)
        except OSError as error:
            log.warning("local_socket_unavailable", folder=str(self._folder), reason=str(error))
            return self
        self._serving = asyncio.create_task(self._server.serve(sockets=[listener]))
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.stop()
        await self.run()

    def stop(self) -> None:
        """Take no new requests."""
        if self.path:
            self.path.unlink(missing_ok=True)
        self._server.should_exit = True
        self._stopped.set()

    async def run(self) -> None:
        """Until `stop`; then requests in hand may go on for the grace, and are cancelled."""
        await self._stopped.wait()
        if self._in_hand:
            await asyncio.wait(self._in_hand, timeout=self._grace)
        for working in self._in_hand:
            working.cancel()
        if self._serving:
            await self._serving

    async def _answer(self, request: Request) -> Response:
        """What the work gives, unless its client hangs up before: then it is cancelled, and nobody reads the reply."""
        body = await _body(request)
        working = asyncio.create_task(self._reply(request, body))
        self._in_hand.add(working)
        working.add_done_callback(self._in_hand.discard)
        hanging_up = asyncio.ensure_future(request.receive())
        try:
            await asyncio.wait({working, hanging_up}, return_when=asyncio.FIRST_COMPLETED)
            if working.done() and not working.cancelled():
                return Response(json.dumps(working.result()), media_type="application/json")
            log.info("local_request_cancelled")
            return Response(status_code=503)
        finally:
            working.cancel()
            hanging_up.cancel()
            await asyncio.gather(working, hanging_up, return_exceptions=True)

    async def _reply(self, request: Request, body: bytes) -> Fields:
        with traced() as trace_id:
            try:
                work, fields = self._understood(request, body)
                return {"done": await work(fields)}
            except IngestError as error:
                return {"refused": str(error)}
            except Exception:  # a defect of ours: the process goes on, and its log says what happened
                log.exception("local_request_failed")
                return {"refused": f"the process that holds the data folder failed (trace id {trace_id} in its log)"}

    def _understood(self, request: Request, body: bytes) -> tuple[Work, Fields]:
        """Raises NotAnswered."""
        if any(request.headers.get(name) != value for name, value in PROTOCOL.items()):
            raise NotAnswered(OTHER_VERSION)
        if len(body) > MAX_MESSAGE_BYTES:
            raise NotAnswered(too_long(len(body)))
        do = request.path_params["do"]
        try:
            fields: Any = json.loads(body)
        except (ValueError, RecursionError):
            raise NotAnswered("the request is not understood") from None
        if do not in self._work or not isinstance(fields, dict):
            raise NotAnswered(f"there is no such request: {do!r}")
        return self._work[do], fields


async def _body(request: Request) -> bytes:
    """As much of it as shows that it is too long."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MAX_MESSAGE_BYTES:
            break
    return bytes(body)


def _listening(folder: Path) -> socket.socket:
    """It takes nobody before it is the owner's alone."""
    listener = socket.socket(socket.AF_UNIX)
    try:
        (folder / NAME).unlink(missing_ok=True)
        with short_path(folder) as path:
            listener.bind(path)
        (folder / NAME).chmod(0o600)
        listener.listen(256)
        listener.setblocking(False)
    except BaseException:
        listener.close()
        raise
    return listener
