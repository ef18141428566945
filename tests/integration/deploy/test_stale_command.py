"""`ritbot stale`, and answers that say of their sources that they changed."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from rich.console import Console

from bot.model import ChangedSource, ChangeNote, Exchange
from deploy.commands.asking.answers import AnswerFilter, show_answer
from deploy.commands.asking.stale import list_stale
from deploy.settings.root import Settings, load
from deploy.wiring.bot_store import open_bot_store
from tests.fakes.exchanges import NOON, answered, question, waiting

STALE = ChangedSource(
    1, "stale", ("n1",), NOON, "Once a year.", "Twice\x1b[31m a year.", "https://docs.example.org/1#x"
)
MARKED = replace(STALE, state="marked", before="", after="")


def stale(number: int, source: ChangedSource = STALE, **note: object) -> Exchange:
    return replace(answered(number), changed=(source,), note=ChangeNote(**note))  # type: ignore[arg-type]


@pytest.fixture
async def settings(tmp_path: Path) -> Settings:
    made = load(None, {"RITBOT_INDEX__FOLDER": str(tmp_path)})
    private = replace(stale(6), note=None, question=question(6, response_url="https://hooks.example.org"))
    kept = [answered(1), waiting(2), stale(3, ts="9.9"), stale(4, MARKED), stale(5, unsent="is_archived"), private]
    async with open_bot_store(made) as store:
        for exchange in [*kept, stale(7, due_at=NOON + timedelta(days=1))]:
            await store.keep(exchange, None)
    return made


async def listed(settings: Settings, wanted: AnswerFilter | None = None, *, marked: bool = False) -> str:
    console = Console(file=io.StringIO(), width=100, force_terminal=False)
    assert await list_stale(settings, wanted or AnswerFilter(), console, marked=marked) == 0
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


async def test_it_lists_what_changed_and_whether_it_was_told(settings: Settings) -> None:
    said = await listed(settings)
    assert "Docs › Keys › Rotating 1 · changed since" in said
    assert "[1] changed, 2026-05-01 12:00" in said
    assert "before: Once a year." in said
    assert "now: Twice [31m a year." in said
    assert "https://docs.example.org/1#x" in said
    for told in (
        "told in the thread, message 9.9",
        "not told: is_archived",
        "private answer",
        "due at 2026-05-02 12:00",
    ):
        assert told in said
    assert "4 answers of which sections have changed since." in said
    assert "5 answers" in await listed(settings, marked=True)
    assert "Every answer stands" in await listed(settings, AnswerFilter(channel="C9"))


async def test_it_gives_json(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    await list_stale(settings, AnswerFilter(since=NOON + timedelta(minutes=5)), Console(), as_json=True)
    rows = json.loads(capsys.readouterr().out)
    assert [row["question"] for row in rows] == [question(n).id for n in (5, 6, 7)]
    assert rows[0]["not_told"] == "is_archived"
    assert rows[2]["note_due_at"] == "2026-05-02T12:00:00.123456+00:00"
    assert rows[0]["changed"] == [
        {
            "source": 1,
            "path": ["Docs", "Keys", "Rotating 1"],
            "state": "stale",
            "nodes": ["n1"],
            "before": "Once a year.",
            "after": "Twice\x1b[31m a year.",
            "link": "https://docs.example.org/1#x",
            "at": NOON.isoformat(),
        }
    ]


async def test_a_shown_answer_says_when_its_source_was_read_and_that_it_changed_since(settings: Settings) -> None:
    for number, changed in ((1, False), (4, True)):
        console = Console(file=io.StringIO(), width=100, force_terminal=False)
        await show_answer(settings, question(number).id, console, NOON + timedelta(days=2), as_json=False)
        assert isinstance(console.file, io.StringIO)
        assert ("checked 2 days ago · changed since" in console.file.getvalue()) == changed
