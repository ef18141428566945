"""The process's own HTTP server (uvicorn), in the loop of its roles: health, and what a role mounts beside it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import structlog
import uvicorn
from starlette.types import ASGIApp

from deploy.serving.connections import LimitedProtocol, without_those_who_left
from deploy.settings.messages import SettingsError
from deploy.settings.process import HttpSettings

log = structlog.get_logger()

GRACE_SECONDS = 2.0
"""That calls in hand may take when the process ends."""


class _Server(uvicorn.Server):
    """One that leaves signals to the roles."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def make_server(
    app: ASGIApp, *, protocol: type[LimitedProtocol] = LimitedProtocol, grace: float = GRACE_SECONDS
) -> uvicorn.Server:
    """Not yet begun: `serve(sockets=[…])` runs it until `should_exit` is set. `protocol` holds what a caller may take;
    `grace`: seconds for which calls in hand may go on then."""
    return _Server(
        uvicorn.Config(
            without_those_who_left(app),
            interface="asgi3",
            http=protocol,
            lifespan="off",
            ws="none",
            log_config=None,
            access_log=False,
            proxy_headers=False,  # who is let in depends on who the caller is, and not on whom it says it speaks for
            server_header=False,
            timeout_graceful_shutdown=grace,  # type: ignore[arg-type]  # asyncio takes parts of seconds too
        )
    )


@asynccontextmanager
async def serving(
    app: ASGIApp, http: HttpSettings, protocol: type[LimitedProtocol] = LimitedProtocol
) -> AsyncIterator[str]:
    """Serve the application until left; the address, with the port that was found where http.port is 0. Raises
    SettingsError where it cannot listen."""
    with _listener(http) as listener:
        server = make_server(app, protocol=protocol)
        task = asyncio.create_task(server.serve(sockets=[listener]))
        host = f"[{http.host}]" if ":" in http.host else http.host
        address = f"http://{host}:{listener.getsockname()[1]}"
        log.info("listening", address=address)
        try:
            yield address
        finally:
            server.should_exit = True
            await task


def _listener(http: HttpSettings) -> socket.socket:
    family = socket.AF_INET6 if ":" in http.host else socket.AF_INET
    try:
        return socket.create_server((http.host, http.port), family=family, backlog=128)
    except OSError as error:
        raise SettingsError(
            f"http.port: cannot listen at {http.host}:{http.port} ({error.strerror or error}): set another port "
            "(RITBOT_HTTP__PORT), 0 for a free one, or another http.host"
        ) from None
