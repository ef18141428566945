"""An ASGI application on a loopback port, in a thread of its own: it serves tests of any event loop."""

from __future__ import annotations

import socket
import threading
from typing import Self

import uvicorn
from starlette.applications import Starlette

from tests.servers.certificates import Certificate


class ThreadedServer:
    """Subclasses say what is served by `application`. `tls`: it speaks TLS only, with this certificate."""

    tls: Certificate | None = None

    def application(self) -> Starlette:
        raise NotImplementedError

    @property
    def url(self) -> str:
        return f"http{'s' if self.tls else ''}://127.0.0.1:{self._socket.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._socket = socket.create_server(("127.0.0.1", 0))
        config = uvicorn.Config(
            self.application(),
            log_config=None,
            log_level=60,
            lifespan="off",
            timeout_graceful_shutdown=1,
            ssl_certfile=self.tls.certificate if self.tls else None,
            ssl_keyfile=self.tls.key if self.tls else None,
        )
        self._server = uvicorn.Server(config)
        name = type(self).__name__
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, name=name)
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()
