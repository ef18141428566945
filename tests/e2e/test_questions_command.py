"""`ritbot questions` as a user types it: the file that it leaves, and how it goes on after a kill."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path

import pytest

from navigator.evaluation.questions import load_questions
from tests.e2e.commands import environment, indexed, lay_out, ritbot, site
from tests.e2e.forked import FORKS
from tests.fakes.messages_api import MessagesApi
from tests.fakes.proposer import Proposer
from tests.fakes.site import html

NAMES = ("valve", "seal", "lamp", "door")


def say(name: str) -> str:
    words = [f"{name}{number}" for number in range(30)]
    return f"<p>{' '.join(words[:10])}. {' '.join(words[10:])}. It is set to what is in the list, and can be on.</p>"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pages = {name: html(name.capitalize(), f"{say(name)}<h2 id='more'>More</h2>{say('more' + name)}") for name in NAMES}
    prices = "[model.prices]\ninput = 1.0\noutput = 5.0\n"
    return indexed(lay_out(tmp_path_factory.mktemp("work"), pages, site("house") + prices))


def env(api: MessagesApi) -> dict[str, str]:
    return {"RITBOT_MODEL__API_KEY": "test", "RITBOT_MODEL__BASE_URL": api.url}


async def test_questions_are_announced_written_and_summed_up_and_the_next_run_adds_what_is_missing(
    place: Path, api: MessagesApi, tmp_path: Path
) -> None:
    api.always(Proposer())
    out = tmp_path / "new" / "mine.jsonl"
    command = ("questions", "house", "--out", str(out), "--count")
    planned = await asyncio.to_thread(ritbot, place, *command, "4", "--dry-run", env=env(api))
    assert "4 questions to be found: about 6 proposals in 27 model calls" in planned.stdout
    assert not out.parent.exists()
    assert not api.requests

    done = await asyncio.to_thread(ritbot, place, *command, "4", env=env(api))
    assert done.returncode == 0, done.stdout + done.stderr
    assert (
        "4 proposed, 4 accepted (2 single-section, 1 multi-section, 1 multi-page), for 17,600 tokens, $0.0240."
        in done.stdout
    )
    assert "4 questions that a model wrote (synthetic), 0 of them checked" in done.stdout
    questions = load_questions(out.read_text(encoding="utf-8"))
    assert [question.synthetic for question in questions] == [True] * 4
    first = json.loads(out.read_text(encoding="utf-8").splitlines()[0])
    assert (first.get("pages") or first["sections"])[0].startswith("https://house.example/docs/")
    assert first["checked"] is False

    before = out.read_bytes()
    again = await asyncio.to_thread(ritbot, place, *command, "5", env=env(api))
    assert "1 question to be found" in again.stdout
    assert out.read_bytes().startswith(before)
    assert len(load_questions(out.read_text(encoding="utf-8"))) == 5

    api.always(Proposer(spoil=lambda made, passages: {"question": None}))
    fewer = await asyncio.to_thread(ritbot, place, *command, "99", env=env(api))
    assert fewer.returncode == 1
    assert "refused: the model found nothing to ask" in fewer.stdout
    assert "house gives no more: no section of its pages is left" in fewer.stdout
    assert len(load_questions(out.read_text(encoding="utf-8"))) == 5


async def test_a_run_that_is_killed_goes_on_where_it_was(place: Path, api: MessagesApi, tmp_path: Path) -> None:
    model = Proposer(pace=0.05)
    api.always(model)
    out = tmp_path / "questions.jsonl"
    command = ("questions", "house", "--out", str(out), "--count", "6")
    process = FORKS.start(place, *command, env=environment(**env(api)))
    async with asyncio.timeout(90):
        while not out.exists() or out.read_bytes().count(b"\n") < 3:  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate(30)
    kept = out.read_bytes()
    asked = len(model.materials)
    done = await asyncio.to_thread(ritbot, place, *command, env=env(api))
    assert done.returncode == 0, done.stdout + done.stderr
    assert out.read_bytes().startswith(kept[: kept.rindex(b"\n") + 1])
    assert len(load_questions(out.read_text(encoding="utf-8"))) == 6
    under_way = 4
    assert len(model.materials) <= 6 + 2 + under_way
    assert asked < len(model.materials)
