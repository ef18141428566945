"""`ritbot answers` and `ritbot forget`, on both columns."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from rich.console import Console

from bot.codec import load_exchange
from bot.model import Exchange, Feedback, Verdict
from deploy.commands.asking.answers import (
    AnswerFilter,
    asked_since,
    export_answers,
    export_questions,
    list_answers,
    show_answer,
)
from deploy.commands.upkeep.forget import forget
from deploy.settings.root import Settings, load
from deploy.wiring.bot_store import open_bot_store, open_editions, open_gaps, retention
from navigator.evaluation.questions import Gold, load_questions
from tests.contract.conftest import remove
from tests.fakes.exchanges import NOON, answered, question, waiting

RITBOT = (sys.executable, "-c", "from deploy.commands.cli import main; main()")
ODD = "\x1b[31mred [bold]x[/bold]\nsecond line 🦊 " + "word " * 40


@pytest.fixture(params=["embedded", "cluster"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Settings]:
    embedded = {"RITBOT_INDEX__FOLDER": str(tmp_path / "data")}
    if request.param == "embedded":
        yield load(None, embedded)
        return
    url, name = request.getfixturevalue("opensearch").url, f"test-{uuid4().hex[:12]}"
    stores = {"KIND": "cluster", "OPENSEARCH_URL": url, "NAME": name}
    yield load(None, embedded | {f"RITBOT_STORES__{key}": value for key, value in stores.items()})
    remove(f"{url}/{name}-*")


def terminal() -> Console:
    return Console(file=io.StringIO(), width=100, force_terminal=False)


def printed(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


async def keep(settings: Settings, *exchanges: Exchange) -> None:
    async with open_bot_store(settings) as store:
        for exchange in exchanges:
            await store.keep(exchange, None)


async def test_the_list_says_when_who_where_what_and_what_became_of_it(settings: Settings) -> None:
    await keep(settings, answered(1), waiting(2, user="U2", text=ODD))
    console = terminal()
    assert await list_answers(settings, AnswerFilter(), console) == 0
    assert printed(console).splitlines() == [
        "2026-05-01 12:01  U1 in C1  T1:C1:1.000100",
        "  Question 1?",
        "  answered · 1 bad · $0.0031 · 2.5 s",
        "  [1] Docs › Keys › Rotating 1",
        "2026-05-01 12:02  U2 in C1  T1:C1:2.000100",
        "  " + ("[31mred [bold]x[/bold] second line 🦊 " + "word " * 40)[:99] + "…",
        "  waiting",
        "2 questions: 1 answered, 1 waiting; $0.00.",
    ]


async def test_the_list_can_be_of_a_time_a_channel_or_a_person(settings: Settings) -> None:
    await keep(settings, waiting(1), waiting(2, user="U2"), waiting(3, channel="C2"))
    for wanted, found in (
        (AnswerFilter(since=NOON + timedelta(minutes=2)), (2, 3)),
        (AnswerFilter(channel="C2"), (3,)),
        (AnswerFilter(user="U1"), (1, 3)),
        (AnswerFilter(NOON + timedelta(minutes=2), "C1", "U2"), (2,)),
    ):
        console = terminal()
        await list_answers(settings, wanted, console)
        assert [f"Question {n}?" in printed(console) for n in (1, 2, 3)] == [n in found for n in (1, 2, 3)]


async def test_where_nothing_was_asked_it_says_so(settings: Settings) -> None:
    console = terminal()
    assert await list_answers(settings, AnswerFilter(), console) == 1
    assert "There is no answer yet" in printed(console)


async def test_the_export_has_everything_one_object_a_line(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    exchanges = [answered(1), waiting(2, text=ODD)]
    await keep(settings, *exchanges)
    assert await export_answers(settings, AnswerFilter()) == 0
    assert [load_exchange(line.encode()) for line in capsys.readouterr().out.splitlines()] == exchanges


async def test_the_whole_way_of_one_answer_is_shown(settings: Settings) -> None:
    await keep(settings, answered(1, text="word " * 30))
    console = terminal()
    assert await show_answer(settings, question(1).id, console, NOON, as_json=False) == 0
    shown = printed(console)
    for part in (
        "understood as: How often",
        "U9 found it bad: not what U9 meant",
        "Once a year",
        "get_toc 'rotate keys'",
    ):
        assert part in shown
    assert shown.count("word") == 20 + 30
    assert await show_answer(settings, "T1:C1:0", console, NOON, as_json=False) == 1
    assert "There is no question T1:C1:0" in printed(console)


async def test_forgetting_says_what_went_and_how_long_the_event_log_keeps_it(settings: Settings) -> None:
    await keep(settings, answered(1), answered(2, user="U2"))
    console = terminal()
    assert await forget(settings, "U1", console) == 0
    assert "Removed 1 question of U1" in printed(console)
    assert "14 days after it was written" in printed(console)
    async with open_bot_store(settings) as store:
        assert [exchange async for exchange in store.exchanges()] == [answered(2, user="U2")]


async def test_retention_keeps_as_many_days_as_are_set(settings: Settings) -> None:
    now = datetime.now(UTC)
    await keep(settings, waiting(1, asked_at=now - timedelta(days=91)), waiting(2, asked_at=now - timedelta(days=89)))
    async with open_bot_store(settings) as store, open_editions(settings) as editions, open_gaps(settings) as gaps:
        role = retention(settings, store, editions, gaps)
        await role.look()
        assert [exchange.question.ts async for exchange in store.exchanges()] == ["2.000100"]


def good(number: int, text: str, *verdicts: Verdict, **fields: Any) -> Exchange:
    judged = tuple(Feedback(f"U{n}", verdict, NOON) for n, verdict in enumerate(verdicts))
    return replace(answered(number, **fields), standalone=text, feedback=judged)


async def test_what_people_found_good_are_questions_that_an_evaluation_reads(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    await keep(
        settings,
        good(1, "How often does <@U7> rotate keys?", "good"),
        good(2, "How often does <@U8> rotate keys?", "good", "good"),
        good(3, "Disputed?", "good", "bad"),
        good(4, "Asked in private?", "good", kind="direct"),
        good(5, "Judged by nobody?"),
        good(6, "Ask eva.smith@example.org or C++ [1]?", "good"),
        waiting(7),
    )
    console = terminal()
    assert await export_questions(settings, AnswerFilter(), console) == 0
    assert "2 answers" in printed(console)
    first, second = load_questions(capsys.readouterr().out)
    assert (first.question, first.answers, first.gold) == (
        "How often does someone rotate keys?",
        ("Once a year.",),
        (Gold(node="n1"),),
    )
    assert (first.kind, first.checked) == ("asked", True)
    assert second.question == "Ask someone or C++ [1]?"
    assert await export_questions(settings, AnswerFilter(channel="C9"), console) == 1
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("30m", NOON - timedelta(minutes=30)),
        ("12 hours ago", NOON - timedelta(hours=12)),
        ("7d", NOON - timedelta(days=7)),
        ("2w", NOON - timedelta(days=14)),
        ("2026-04-01", datetime(2026, 4, 1, tzinfo=UTC)),
        ("2026-04-01T10:00+02:00", datetime(2026, 4, 1, 8, tzinfo=UTC)),
    ],
)
def test_since_is_a_time_or_how_long_ago(text: str, time: datetime) -> None:
    assert asked_since(text, NOON) == time


@pytest.mark.parametrize("text", ["", "yesterday", "7", "99999w", "7 days later", "-3d", "7 moons", "2026-13-01"])
def test_what_is_no_time_is_told(text: str) -> None:
    with pytest.raises(ValueError, match="is no time: name a date"):
        asked_since(text, NOON)


async def test_the_commands_as_an_operator_types_them(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    environ = {name: value for name, value in os.environ.items() if not name.startswith("RITBOT_")}
    environ["RITBOT_INDEX__FOLDER"] = str(folder)

    def ritbot(*arguments: str) -> tuple[int, str, str]:
        done = subprocess.run(
            [*RITBOT, *arguments], cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=60, check=False
        )
        return done.returncode, done.stdout, done.stderr

    status, _, told = ritbot("answers")
    assert (status, "There is no data folder" in told) == (3, True)
    await keep(load(None, environ), answered(1), answered(2, user="U2"))
    status, _, told = ritbot("forget", "U1")
    assert (status, "ritbot forget U1 --yes" in told) == (2, True)
    status, told, _ = ritbot("forget", "U2", "--yes")
    assert (status, "Removed 1 question of U2" in told) == (0, True)
    status, told, _ = ritbot("answers", "--json", "--channel", "C1", "--since", "2026-01-01")
    assert (status, json.loads(told)["standalone"]) == (0, "How often are keys rotated?")
