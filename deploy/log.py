"""Logging: every event and every other library's record as one line on stderr, secrets taken out.

Events come from structlog and carry the trace id of the work that they belong to (`traced`). Records of
other libraries go through the same formatter, but only from WARNING (the talkative ones: ERROR), and
never below INFO, where some of them log request headers.
"""

from __future__ import annotations

import logging
import re
import sys
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from bot.terminal.console import safe_text
from deploy.settings.process import LogSettings

HANDLER = "ritbot"
TALKATIVE = (
    "httpx",
    "httpcore",
    "opensearch",
    "aiokafka",
    "slack_bolt",
    "slack_sdk",
    "asyncio",
    "uvicorn",
    "sentence_transformers",
    "transformers",
    "huggingface_hub",
    "urllib3",
    "py.warnings",
)
COUNTED = frozenset({"client_left", "connection_refused", "hook_refused", "slack_request_refused"})
"""Events that a stranger can cause as often as he likes: counted, and told once in a while."""
COUNTED_SECONDS = 60.0
"""How long one line of such an event stands for those that follow."""
HIDDEN = "(hidden)"
SECRET_WORDS = frozenset(
    "authorization cookie cookies credential credentials header headers password secret secrets token apikey".split()
)
SECRET_TEXT = re.compile(r"(?<=://)[^/\s@]+(?=@)|(?<=Bearer )\S+", re.IGNORECASE)
"""User and password in an address, and bearer tokens, inside other text."""


def configure(
    log: LogSettings, *, server: bool = False, stream: TextIO | None = None, observe: Processor | None = None
) -> None:
    """Send everything to `stream` (None: stderr). `observe` sees every event, also those that are not logged. May be
    called again; the last call holds."""
    stream = stream or sys.stderr
    level = _level(log, server)
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[
            *([observe] if observe else []),
            FromLevel(level),
            Counted(),
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.NOTSET),
        logger_factory=structlog.stdlib.LoggerFactory(),
    )
    _handle(_formatter(log, shared, colors=stream.isatty()), level, stream)
    logging.captureWarnings(True)


class FromLevel:
    """A processor: events below the level go no further."""

    def __init__(self, level: int) -> None:
        self._level = level

    def __call__(self, _: WrappedLogger, name: str, event: EventDict) -> EventDict:
        if logging.getLevelNamesMapping()[name.upper()] < self._level:
            raise structlog.DropEvent
        return event


class Counted:
    """A processor: of the events in COUNTED one line a while, with how many came since the line before (`more`)."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._told: dict[str, float] = {}
        self._untold: Counter[str] = Counter()

    def __call__(self, _: WrappedLogger, __: str, event: EventDict) -> EventDict:
        name = event.get("event", "")
        if name not in COUNTED:
            return event
        now = self._now()
        if now - self._told.get(name, -COUNTED_SECONDS) < COUNTED_SECONDS:
            self._untold[name] += 1
            raise structlog.DropEvent
        self._told[name] = now
        more = self._untold.pop(name, 0)
        return {**event, "more": more} if more else event


@contextmanager
def traced(trace_id: str | None = None) -> Iterator[str]:
    """Every event within carries this trace id; a new one is made where none is given."""
    trace_id = trace_id or uuid.uuid4().hex[:12]
    with structlog.contextvars.bound_contextvars(trace_id=trace_id):
        yield trace_id


def hide_secrets(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Replace what is secret by its name, at any depth, and what is secret by its look inside texts; and whatever a
    terminal that shows the log might obey."""
    return {key: HIDDEN if _secret(key) else _without_secrets(value) for key, value in event.items()}


def _secret(key: object) -> bool:
    words = re.split(r"[^a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(key)).lower())
    return not SECRET_WORDS.isdisjoint(words) or "api_key" in "_".join(words)


def _without_secrets(value: object) -> object:
    match value:
        case str():
            return SECRET_TEXT.sub(HIDDEN, safe_text(value))
        case Mapping():
            return {key: HIDDEN if _secret(key) else _without_secrets(inner) for key, inner in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_without_secrets(inner) for inner in value]
    return value


def _level(log: LogSettings, server: bool) -> int:
    if log.level == "auto":
        return logging.INFO if server else logging.WARNING
    return logging.getLevelNamesMapping()[log.level.upper()]


def _formatter(log: LogSettings, shared: list[Processor], *, colors: bool) -> logging.Formatter:
    # Tracebacks are plain text in both forms: structlog's own would print local variables, secrets among them.
    renderer: list[Processor] = (
        [structlog.processors.JSONRenderer(ensure_ascii=False)]
        if log.format == "json"
        else [structlog.dev.ConsoleRenderer(colors=colors, exception_formatter=structlog.dev.plain_traceback)]
    )
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[*shared, structlog.stdlib.add_logger_name],
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            hide_secrets,
            *renderer,
        ],
    )


def _handle(formatter: logging.Formatter, level: int, stream: TextIO) -> None:
    """Make ours the root logger's handler, in place of an earlier one of ours; other handlers stay."""
    handler = logging.StreamHandler(stream)
    handler.set_name(HANDLER)
    handler.setFormatter(formatter)
    handler.addFilter(lambda record: _wanted(record, level))
    root = logging.getLogger()
    for earlier in [known for known in root.handlers if known.get_name() == HANDLER]:
        root.removeHandler(earlier)
    root.addHandler(handler)
    root.setLevel(min(level, logging.WARNING))


def _wanted(record: logging.LogRecord, level: int) -> bool:
    """Our own events were filtered where they were made; of others only what somebody must know."""
    if isinstance(record.msg, dict):
        return True
    if level <= logging.DEBUG:
        return record.levelno >= logging.INFO
    talkative = record.name.partition(".")[0] in TALKATIVE or record.name in TALKATIVE
    return record.levelno >= max(level, logging.ERROR if talkative else logging.WARNING)
