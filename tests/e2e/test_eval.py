"""`ritbot eval` as an operator types it: real HTML, the real embedding model, one process a command. What it does with
answers, judges and ceilings is in tests/integration/evaluation."""

import asyncio
import json
import signal
from pathlib import Path
from typing import Any

import pytest

from navigator.evaluation.results import load_result
from tests.e2e.commands import environment, ritbot
from tests.e2e.forked import FORKS, Forked
from tests.fakes.messages_api import Answer, MessagesApi, Request, Scripted, text
from tests.integration.navigator.evaluation.setting import Endpoint

SITE = "https://pumpkin.example/docs/"
QUESTIONS: list[dict[str, Any]] = [
    {"id": "port", "question": "How do I change the port?", "sections": ["install.html#port"]},
    {"id": "keys", "question": "How often are keys rotated?", "page": "keys.html", "anchor": "rotate"},
    {"id": "data", "question": "What does a backup hold?", "pages": [f"{SITE}backup.html"]},
]


@pytest.fixture(scope="module")
def indexed(pumpkin: Path) -> Path:
    """A working directory with an index, and questions."""
    (pumpkin / "questions.jsonl").write_text("\n".join(map(json.dumps, QUESTIONS)), encoding="utf-8")
    return pumpkin


def test_without_a_model_scripted_readers_play_all_strategies_and_three_reports_are_written(indexed: Path) -> None:
    done = ritbot(indexed, "eval", "questions.jsonl", fresh=True)
    assert done.returncode == 0, done.stderr
    assert "3 questions, 12 contenders: 36 answers. Into eval/questions." in done.stdout
    assert "rit, oracle reader (scripted)" in done.stdout
    assert "eval/questions/report.html" in done.stdout
    folder = indexed / "eval" / "questions"
    markdown, figures, page = (
        (folder / name).read_text(encoding="utf-8") for name in ("report.md", "report.json", "report.html")
    )
    assert markdown.startswith("# Evaluation: questions\n")
    assert "No model answered: scripted readers stand in its place" in markdown
    rows = {row["contender"]["label"]: row for row in json.loads(figures)["rows"]}
    assert len(rows) == 12
    assert rows["rit, oracle reader"]["precision"] == rows["rit, oracle reader"]["recall"] == 1.0
    assert page.startswith("<!doctype html>")
    assert len([load_result(line) for line in (folder / "results.jsonl").read_bytes().splitlines()]) == 36
    assert {path.suffix for path in folder.iterdir()} == {".md", ".json", ".html", ".jsonl"}

    again = ritbot(indexed, "eval", "questions.jsonl", "--json")
    assert "36 answers, 36 of them there already" in again.stderr
    assert again.stdout == figures, "as JSON, and nothing else"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
async def test_a_run_that_is_stopped_half_way_goes_on(indexed: Path, number: signal.Signals) -> None:
    reached, endpoint = asyncio.Event(), Endpoint()

    def holds(request: Request) -> Scripted:
        if len(endpoint.answered) == 2:
            reached.set()
            return Answer((text("too late"),), delay=100.0)
        return endpoint(request)

    out = f"stopped-{number.name}"
    arguments = ("eval", "questions.jsonl", "--out", out, "--strategy", "vanilla", "--concurrency", "1")
    async with MessagesApi() as api:
        env = {"RITBOT_MODEL__API_KEY": "test", "RITBOT_MODEL__BASE_URL": api.url, "RITBOT_MODEL__CITATIONS": "true"}
        api.always(holds)
        process = FORKS.start(indexed, *arguments, env=environment(**env))
        async with asyncio.timeout(100):
            await reached.wait()
        process.send_signal(number)
        await asyncio.to_thread(ended, process, number)
        asked = len(api.requests)
        api.always(endpoint)
        done = await asyncio.to_thread(ritbot, indexed, *arguments, env=env)
        assert done.returncode == 0, done.stderr
        assert "3 answers, 2 of them there already" in done.stdout
        assert len(api.requests) - asked == 1


def ended(process: Forked, number: signal.Signals) -> None:
    out, err = process.communicate(60)
    if number == signal.SIGINT:
        assert process.wait() == 130, err
        assert "Stopped: it was interrupted." in out
        assert "Incomplete: 1 of 3 answers is missing." in out


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        (("nowhere.jsonl",), 3, "No such file or directory: nowhere.jsonl"),
        (("questions.jsonl", "--sweep", "m=5"), 2, "m cannot be swept"),
        (("questions.jsonl", "--max-cost", "0"), 2, "above 0"),
        (("questions.jsonl", "--site", "squash"), 2, "There is no site called squash"),
        (("questions.jsonl", "--out", "ritbot.toml"), 3, "ritbot.toml"),
        (("questions.jsonl", "--folder", "elsewhere"), 3, "ritbot index"),
    ],
)
def test_what_cannot_be_done_is_said(indexed: Path, arguments: tuple[str, ...], status: int, told: str) -> None:
    done = ritbot(indexed, "eval", *arguments)
    assert done.returncode == status, done.stderr
    assert told in done.stderr.replace("\n", " ")
