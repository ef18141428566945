"""Logging: one line an event on one stream, with the trace id, without secrets, others kept quiet."""

from __future__ import annotations

import io
import json
import logging
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from deploy.log import COUNTED_SECONDS, HANDLER, Counted, configure, hide_secrets, traced
from deploy.settings.process import LogSettings


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    config, root = structlog.get_config(), logging.getLogger()
    level = root.level
    yield
    structlog.configure(**config)
    for handler in [handler for handler in root.handlers if handler.get_name() == HANDLER]:
        root.removeHandler(handler)
    root.setLevel(level)
    logging.captureWarnings(False)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def lines(level: str = "auto", *, server: bool = False) -> io.StringIO:
    stream = io.StringIO()
    configure(LogSettings(level=level, format="json"), server=server, stream=stream)  # type: ignore[arg-type]
    return stream


def events(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_an_event_is_one_json_object_with_level_time_and_fields() -> None:
    stream = lines(server=True)
    structlog.get_logger().info("page_indexed", url="https://docs.example.com/ä", chunks=3)
    [event] = events(stream)
    assert event.pop("timestamp").endswith("Z")
    assert event == {"event": "page_indexed", "level": "info", "url": "https://docs.example.com/ä", "chunks": 3}


@pytest.mark.parametrize(
    ("level", "server", "seen"),
    [
        ("auto", False, ["warning", "error"]),
        ("auto", True, ["info", "warning", "error"]),
        ("debug", False, ["debug", "info", "warning", "error"]),
        ("error", True, ["error"]),
    ],
)
def test_the_level_is_as_set_and_by_default_that_of_the_kind_of_program(
    level: str, server: bool, seen: list[str]
) -> None:
    stream = lines(level, server=server)
    log = structlog.get_logger()
    for name in ("debug", "info", "warning", "error"):
        getattr(log, name)("happened")
    assert [event["level"] for event in events(stream)] == seen


def test_who_observes_sees_every_event_whatever_is_logged() -> None:
    stream, seen = io.StringIO(), []

    def observe(_: object, level: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
        seen.append((level, event["event"]))
        return event

    configure(LogSettings(level="error", format="json"), server=True, stream=stream, observe=observe)
    log = structlog.get_logger()
    log.debug("looked_at")
    log.warning("client_left")
    log.warning("client_left")
    try:
        raise ValueError
    except ValueError:
        log.exception("page_failed")
    assert seen == [
        ("debug", "looked_at"),
        ("warning", "client_left"),
        ("warning", "client_left"),
        ("error", "page_failed"),
    ]
    assert [event["event"] for event in events(stream)] == ["page_failed"]


def test_the_console_form_is_for_people_and_coloured_on_a_terminal_only() -> None:
    plain, terminal = io.StringIO(), Terminal()
    for stream in (plain, terminal):
        configure(LogSettings(), stream=stream)
        structlog.get_logger().warning("page_skipped", reason="noindex")
    assert "page_skipped" in plain.getvalue()
    assert "reason=noindex" in plain.getvalue()
    assert "\x1b[" not in plain.getvalue()
    assert "\x1b[" in terminal.getvalue()


def test_configured_again_it_writes_once_and_to_the_last_stream() -> None:
    first, second = lines(), lines()
    structlog.get_logger().warning("happened")
    assert (len(events(first)), len(events(second))) == (0, 1)


def test_handlers_of_others_stay() -> None:
    theirs = logging.NullHandler()
    logging.getLogger().addHandler(theirs)
    lines()
    assert theirs in logging.getLogger().handlers
    logging.getLogger().removeHandler(theirs)


def test_everything_within_a_trace_carries_its_id_and_nothing_after_it() -> None:
    stream = lines()
    log = structlog.get_logger()
    with traced() as made, traced("abc") as given:
        log.warning("inner")
        logging.getLogger("another.library").warning("theirs")
    log.warning("after")
    assert given == "abc"
    assert len(made) == 12
    assert [event.get("trace_id") for event in events(stream)] == ["abc", "abc", None]
    assert [event.get("logger") for event in events(stream)] == [None, "another.library", None]


def test_two_traces_have_different_ids() -> None:
    with traced() as one:
        pass
    with traced() as two:
        pass
    assert one != two


@pytest.mark.parametrize(
    "key",
    ["api_key", "apiKey", "x-api-key", "RITBOT_MODEL__API_KEY", "Authorization", "token", "slack_bot_token", "botToken",
     "cookie", "Set-Cookie", "headers", "request_headers", "password", "db_password", "client_secret", "credentials"],
)  # fmt: skip
def test_what_is_secret_by_its_name_is_hidden_at_any_depth(key: str) -> None:
    secret = {"a": "hunter2"} if "header" in key else "hunter2"
    event = {"event": "e", key: secret, "deep": [{key: secret}], "in": {"in": {key: secret}}}
    assert "hunter2" not in str(hide_secrets(None, "", event))


@pytest.mark.parametrize("key", ["input_tokens", "tokens", "context_tokens", "keys", "heading", "author"])
def test_what_only_sounds_like_a_secret_is_shown(key: str) -> None:
    assert hide_secrets(None, "", {key: 7}) == {key: 7}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("GET https://ann:hunter2@docs.example.com/a", "GET https://(hidden)@docs.example.com/a"),
        ("Authorization: Bearer hunter2 sent", "Authorization: Bearer (hidden) sent"),
        ("mail ann@example.com about https://docs.example.com/@ann", "mail ann@example.com about https://docs.example.com/@ann"),
    ],
)  # fmt: skip
def test_secrets_inside_a_text_are_hidden(text: str, shown: str) -> None:
    assert hide_secrets(None, "", {"event": text, "n": [text]}) == {"event": shown, "n": [shown]}


def test_a_traceback_is_logged_without_the_values_of_variables() -> None:
    for form in ("json", "console"):
        stream = io.StringIO()
        configure(LogSettings(format=form), stream=stream)
        password = "hunter" + str(2)
        try:
            raise ValueError("broken" + password[:0])
        except ValueError:
            structlog.get_logger().exception("failed")
            logging.getLogger("another.library").exception("theirs")
        assert stream.getvalue().count("ValueError: broken") == 2
        assert "hunter2" not in stream.getvalue()


@pytest.mark.parametrize(
    ("level", "name", "seen"),
    [
        ("auto", "another.library", ["warning", "error"]),
        ("auto", "httpx", ["error"]),
        ("auto", "sentence_transformers.models", ["error"]),
        ("info", "huggingface_hub", ["error"]),
        ("error", "another.library", ["error"]),
        ("debug", "httpx", ["info", "warning", "error"]),
        ("debug", "httpcore.http11", ["info", "warning", "error"]),
    ],
)
def test_other_libraries_are_quiet_and_never_log_below_info(level: str, name: str, seen: list[str]) -> None:
    stream = lines(level)
    library = logging.getLogger(name)
    for called in ("debug", "info", "warning", "error"):
        getattr(library, called)("said %s", called)
    assert [event["level"] for event in events(stream)] == seen


@pytest.mark.parametrize(("level", "seen"), [("auto", 0), ("debug", 1)])
def test_warnings_of_libraries_are_lines_of_the_log_and_seen_when_debugging(level: str, seen: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        stream = lines(level)
        warnings.warn("something gets old", FutureWarning, stacklevel=1)
        logging.captureWarnings(False)
    assert len([event for event in events(stream) if "something gets old" in event["event"]]) == seen


def test_the_default_stream_is_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    configure(LogSettings())
    structlog.get_logger().warning("happened")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "happened" in captured.err


def test_what_a_stranger_can_cause_is_told_once_in_a_while_with_how_often() -> None:
    time = 0.0
    counted = Counted(lambda: time)

    def told(name: str) -> dict[str, object] | None:
        try:
            return dict(counted(None, "warning", {"event": name}))
        except structlog.DropEvent:
            return None

    assert told("hook_refused") == {"event": "hook_refused"}
    assert [told("hook_refused") for _ in range(500)] == [None] * 500
    assert told("connection_refused") == {"event": "connection_refused"}
    assert [told("role_died"), told("role_died")] == [{"event": "role_died"}] * 2
    time = COUNTED_SECONDS
    assert told("hook_refused") == {"event": "hook_refused", "more": 500}
    time = 2 * COUNTED_SECONDS
    assert told("hook_refused") == {"event": "hook_refused"}
