"""How a process says that it is well: GET /healthz, GET /readyz and GET /metrics, beside what its roles mount.

/healthz: the process runs and its loop turns; 200 until a role has died. /readyz: it can do its work now; 503 while it
starts or ends and while something that it needs does not answer. Both answer JSON that says what is wrong, in plain words.
/metrics: its numbers, from the start on (deploy.serving.metrics).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType

import structlog
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from bot.errors import BotError
from deploy.log import HIDDEN, SECRET_TEXT
from deploy.serving.metrics import PROCESS, Gauges, Metrics
from ingest.errors import IngestError

log = structlog.get_logger()

Check = Callable[[], Awaitable[object]]
"""Asks something that a role needs whether it is there; what it raises says why not."""

MAX_CHECK_SECONDS = 5.0
"""Seconds that a check, or reading a gauge, may take."""


class Health:
    """`app` serves it. Starting until `ready`, well until `ends` or until a role `died`. `within`: seconds for a check."""

    def __init__(self, within: float = MAX_CHECK_SECONDS, metrics: Metrics = PROCESS) -> None:
        self._within = within
        self._metrics = metrics
        self._state = "starting"
        self._checks: Mapping[str, Check] = {}
        self._gauges: Gauges = {}
        self._died: dict[str, str] = {}
        self.app = Starlette(
            routes=[
                Route("/healthz", self._healthz),
                Route("/readyz", self._readyz),
                Route("/metrics", self._metrics_page),
            ],
            exception_handlers={404: self._not_there},
        )

    def ready(
        self, checks: Mapping[str, Check], routes: Sequence[BaseRoute] = (), gauges: Gauges = MappingProxyType({})
    ) -> None:
        """Everything is open. `checks` by what they are about; `routes` are served, and `gauges` read, from now on."""
        self._checks = checks
        self._gauges = gauges
        self.app.router.routes.extend(routes)
        self._state = "ready"

    def ends(self) -> None:
        """No more work is taken."""
        self._state = "ending"

    def died(self, role: str, error: BaseException) -> None:
        self._died[role] = _plain(error)

    async def _healthz(self, _: Request) -> Response:
        if self._died:
            return JSONResponse({"status": "failed", "roles": self._died}, 503)
        return JSONResponse({"status": "ok"})

    async def _readyz(self, _: Request) -> Response:
        if self._died or self._state != "ready":
            return JSONResponse({"status": "failed" if self._died else self._state, "roles": self._died}, 503)
        results = await asyncio.gather(*(self._tried(name, check) for name, check in self._checks.items()))
        checks = dict(zip(self._checks, results, strict=True))
        well = all(result == "ok" for result in results)
        return JSONResponse({"status": "ready" if well else "not ready", "checks": checks}, 200 if well else 503)

    async def _metrics_page(self, request: Request) -> Response:
        ready = self._state == "ready" and not self._died
        accept = request.headers.get("accept", "")
        body, kind = await self._metrics.page(accept, self._gauges, ready=ready, within=self._within)
        return Response(body, headers={"content-type": kind})

    async def _tried(self, name: str, check: Check) -> str:
        try:
            async with asyncio.timeout(self._within):
                await check()
        except TimeoutError:
            reason = f"no answer within {self._within:g} seconds"
        except Exception as error:  # a probe is answered whatever it finds
            reason = _plain(error)
        else:
            return "ok"
        log.warning("not_ready", check=name, reason=reason)
        return reason

    async def _not_there(self, _: Request, __: Exception) -> Response:
        """Who calls what a role has yet to mount calls again."""
        if self._state == "starting":
            return JSONResponse({"error": "starting; call again"}, 503, {"retry-after": "5"})
        return JSONResponse({"error": "there is nothing at this address"}, 404)


def _plain(error: BaseException) -> str:
    """What happened, in words meant for an operator; of errors that are none of ours, only the kind."""
    if isinstance(error, IngestError | BotError):
        return re.sub(r"\s+", " ", SECRET_TEXT.sub(HIDDEN, str(error)))
    return f"internal error ({type(error).__name__}); the log says more"
