"""`ritbot gaps`, and `ritbot forget` in it, on both columns."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from rich.console import Console

from bot.gaps.gap import AskedAgain, Gap, GapState, Place
from bot.model import Exchange, Need
from deploy.commands.asking.gaps import list_gaps, set_state, show_gap
from deploy.commands.upkeep.forget import forget
from deploy.settings.root import Settings, load
from deploy.wiring.bot_store import open_bot_store, open_gaps
from tests.contract.conftest import remove
from tests.fakes.exchanges import NOON, answer, question

NOW = NOON + timedelta(days=8)
OWNERS = json.dumps(
    [
        {"pattern": "/keys", "name": "Security"},
        {"pattern": "Guide › ", "name": "Guides"},
        {"pattern": "Guide", "name": "Nobody comes here"},
    ]
)
EXPIRY = Place("n1", ("Pump", "Keys", "Key expiry"), "https://docs.example.org/keys#expiry")
ROTATE = Gap("aaaa0001", NOON, "T1:C1:1.000100", "model", (1.0,), EXPIRY)
PORT = Gap("bbbb0002", NOON, pin=Place("n2", ("Pump", "Guide › Ports"), "https://docs.example.org/ports"))
AGAIN = AskedAgain(NOON + timedelta(days=3), 2, 0)
NOWHERE = Gap("cccc0003", NOON, state="fixed", fixed_by="docs#12", asked_again=AGAIN)


@pytest.fixture(params=["embedded", "cluster"])
def column(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Settings]:
    given = {"RITBOT_INDEX__FOLDER": str(tmp_path / "data"), "RITBOT_GAPS__OWNERS": OWNERS}
    if request.param == "embedded":
        yield load(None, given)
        return
    url, name = request.getfixturevalue("opensearch").url, f"test-{uuid4().hex[:12]}"
    stores = {"KIND": "cluster", "OPENSEARCH_URL": url, "NAME": name}
    yield load(None, given | {f"RITBOT_STORES__{key}": value for key, value in stores.items()})
    remove(f"{url}/{name}-*")


@pytest.fixture
async def settings(column: Settings) -> Settings:
    async with open_bot_store(column) as store, open_gaps(column) as gaps:
        for gap in (ROTATE, PORT, NOWHERE):
            await gaps.keep(gap, None)
        for exchange in (
            in_vain(1, ROTATE, "How do I rotate keys, <@U77>?"),
            in_vain(2, ROTATE, "=HYPERLINK(1) key\x1b[31m rollover?", user="U2", asked_at=NOON + timedelta(days=7)),
            in_vain(3, ROTATE, "Only for me: keys?", kind="direct"),
            in_vain(4, ROTATE, "How do I rotate keys, <@U77>?", id="T1:C1:1.000100:again-2"),
            in_vain(5, PORT, "Which port?"),
            in_vain(6, NOWHERE, "Windows?"),
            in_vain(7, None, "Just asked?"),
        ):
            await store.keep(exchange, None)
    return column


def in_vain(number: int, gap: Gap | None, text: str, **fields: object) -> Exchange:
    lacking = replace(answer(), outcome="not_found", sources=())
    need = Need(gap.id, ("n1",)) if gap else None
    return Exchange(question(number, text=text, **fields), state="done", answer=lacking, need=need)  # type: ignore[arg-type]


async def listed(settings: Settings, state: GapState | None = None, owner: str | None = None) -> list[str]:
    console = Console(file=io.StringIO(), width=100, force_terminal=False)
    assert await list_gaps(settings, console, NOW, state=state, owner=owner) == 0
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


async def test_the_list_says_where_how_often_whose_and_in_which_words(settings: Settings) -> None:
    assert await listed(settings) == [
        "Pump › Keys › Key expiry  aaaa0001",
        "  “=HYPERLINK(1) key [31m rollover?”",
        "  “How do I rotate keys, someone?”",
        "  3 questions · 1 this week, 2 the week before · Security · open",
        "Pump › Guide › Ports  bbbb0002",
        "  “Which port?”",
        "  1 question · 0 this week, 1 the week before · Guides · open",
        "nowhere yet  cccc0003",
        "  “Windows?”",
        "  1 question · 0 this week, 1 the week before · nobody's · fixed by docs#12 · asked again on 2026-05-04: still "
        "not answered",
        "3 gaps, 5 questions.",
        "1 question not grouped yet: ritbot serve or ritbot answer does that.",
    ]
    assert (await listed(settings, state="fixed"))[0] == "nowhere yet  cccc0003"
    assert (await listed(settings, owner="Guides"))[0] == "Pump › Guide › Ports  bbbb0002"
    assert (await listed(settings, state="ignored"))[0] == "There is no gap, or none that you asked for."


async def test_one_gap_is_shown_with_all_its_questions_and_its_state_is_set(settings: Settings) -> None:
    console = Console(file=io.StringIO(), width=100, force_terminal=False)
    assert await show_gap(settings, ROTATE.id, console, NOW, as_json=False) == 0
    assert await show_gap(settings, "never", console, NOW, as_json=False) == 1
    assert await set_state(settings, ROTATE.id, "taken", "", console, NOW) == 0
    assert await set_state(settings, ROTATE.id, "fixed", "docs#7", console, NOW) == 0
    assert await set_state(settings, "never", "taken", "", console, NOW) == 1
    assert isinstance(console.file, io.StringIO)
    said = console.file.getvalue()
    for line in ("and 1 question asked in private", EXPIRY.link, "aaaa0001: taken", "aaaa0001: fixed by docs#7"):
        assert line in said
    assert "Only for me" not in said
    assert said.count("There is no gap never") == 2
    async with open_gaps(settings) as gaps:
        kept = await gaps.gap(ROTATE.id)
    assert kept is not None
    assert kept.gap == ROTATE.put("fixed", NOW, "docs#7")


async def test_exports_name_nobody_and_a_spreadsheet_runs_nothing(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await list_gaps(settings, Console(), NOW, shape="csv") == 0
    text = capsys.readouterr().out
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [(row["id"], row["questions"], row["this week"], row["owner"]) for row in rows] == [
        ("aaaa0001", "3", "1", "Security"),
        ("bbbb0002", "1", "0", "Guides"),
        ("cccc0003", "1", "0", ""),
    ]
    assert rows[0]["examples"].startswith("'=HYPERLINK")
    assert await list_gaps(settings, Console(), NOW, shape="json") == 0
    exported = capsys.readouterr().out
    fields = json.loads(exported)
    assert fields[0]["weeks"] == [0, 0, 0, 0, 0, 0, 2, 1]
    assert fields[0]["path"] == list(EXPIRY.path)
    assert (fields[2]["asked_again"], fields[2]["answered_now"]) == (2, 0)
    for name in ("U1", "U2", "U77", "U9", "Only for me"):
        assert name not in text + exported


async def test_who_is_forgotten_is_gone_from_gaps_too(settings: Settings) -> None:
    await forget(settings, "U1", Console(file=io.StringIO()))
    async with open_gaps(settings) as gaps:
        left = [gap async for gap in gaps.all()]
    assert [(gap.id, gap.question, gap.vector) for gap in left] == [(ROTATE.id, "", ())]
    assert "How do I rotate" not in "\n".join(await listed(settings))
