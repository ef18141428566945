"""`ritbot eval` as an operator types it: real HTML, the real embedding model, one process a command."""

import asyncio
import json
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from navigator.evaluation.results import load_result
from tests.e2e.forked import FORKS, Forked
from tests.e2e.test_command import PAGES, environment, ritbot
from tests.fakes.messages_api import Answer, MessagesApi, Request, Scripted, text
from tests.integration.evaluation.setting import JUDGE, Endpoint

SITE = "https://pumpkin.example/docs/"
QUESTIONS: list[dict[str, Any]] = [
    {"id": "port", "question": "How do I change the port?", "answer": "Set PUMPKIN_PORT.", "sections": ["install.html#port"]},
    {"id": "keys", "question": "How often are keys rotated?", "answer": "Once a year.", "page": "keys.html", "anchor": "rotate"},
    {"id": "data", "question": "What does a backup hold?", "answers": ["All data"], "pages": [f"{SITE}backup.html"]},
]  # fmt: skip
REPORTS = ("report.md", "report.json", "report.html")


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working directory with a site, its settings, and its index."""
    folder = tmp_path_factory.mktemp("work")
    (folder / "html").mkdir()
    for name, page in PAGES.items():
        (folder / "html" / f"{name}.html").write_text(page, encoding="utf-8")
    (folder / "ritbot.toml").write_text(
        f'[index]\nfolder = "data"\n[[sites]]\nname = "pumpkin"\nstart = "html"\nbase_url = "{SITE}"\n',
        encoding="utf-8",
    )
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, QUESTIONS)), encoding="utf-8")
    done = ritbot(folder, "index")
    assert done.returncode == 0, done.stderr
    return folder


def with_model(api: MessagesApi, **more: str) -> dict[str, str]:
    return {
        "RITBOT_MODEL__API_KEY": "test",
        "RITBOT_MODEL__BASE_URL": api.url,
        "RITBOT_MODEL__NAME": "answerer",
        "RITBOT_MODEL__CITATIONS": "true",
        "RITBOT_EVALUATION__JUDGE": JUDGE,
        **more,
    }


def prices(section: str) -> dict[str, str]:
    return {f"RITBOT_{section}__{kind}": "1" for kind in ("INPUT", "OUTPUT", "CACHE_READ", "CACHE_WRITE")}


async def evaluated(
    folder: Path, endpoint: Callable[[Request], Scripted], *arguments: str, **env: str
) -> tuple[subprocess.CompletedProcess[str], int]:
    """The run, and how many requests it made."""
    async with MessagesApi() as api:
        api.always(endpoint)
        command = ("eval", "questions.jsonl", *arguments)
        done = await asyncio.to_thread(ritbot, folder, *command, env=with_model(api, **env))
        return done, len(api.requests)


def test_without_a_model_scripted_readers_play_all_strategies_and_three_reports_are_written(indexed: Path) -> None:
    done = ritbot(indexed, "eval", "questions.jsonl", fresh=True)
    assert done.returncode == 0, done.stderr
    assert "3 questions, 12 contenders: 36 answers. Into eval/questions." in done.stdout
    assert "rit, oracle reader (scripted)" in done.stdout
    assert "eval/questions/report.html" in done.stdout
    folder = indexed / "eval" / "questions"
    markdown, figures, page = ((folder / name).read_text(encoding="utf-8") for name in REPORTS)
    assert markdown.startswith("# Evaluation: questions\n")
    assert "No model answered: scripted readers stand in its place" in markdown
    assert "4 questions under way side by side" in markdown
    rows = {row["contender"]["label"]: row for row in json.loads(figures)["rows"]}
    assert len(rows) == 12
    assert rows["rit, oracle reader"]["precision"] == rows["rit, oracle reader"]["recall"] == 1.0
    assert page.startswith("<!doctype html>")
    assert not list(folder.glob("*.half"))
    results = [load_result(line) for line in (folder / "results.jsonl").read_bytes().splitlines()]
    assert len(results) == 36

    again = ritbot(indexed, "eval", "questions.jsonl")
    assert "36 answers, 36 of them there already" in again.stdout
    assert (folder / "report.json").read_text(encoding="utf-8") == figures
    assert len((folder / "results.jsonl").read_bytes().splitlines()) == 36


def test_a_sweep_and_an_ablation_are_contenders_of_their_own(indexed: Path) -> None:
    done = ritbot(
        indexed, "eval", "questions.jsonl", "--out", "swept", "--reader", "top", "--limit", "1", "--json",
        "--strategy", "rit", "--strategy", "rdr2", "--sweep", "n=1,2", "--sweep", "expansions=0", "--no-structure",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    labels = [row["contender"]["label"] for row in json.loads(done.stdout)["rows"]]
    ends = ("rit", "rit n=1", "rit n=2", "rdr2", "rdr2 E=0", "rdr2 without structure")
    assert labels == [f"{name}, top reader" for name in ends]


async def test_a_model_answers_and_another_judges(indexed: Path) -> None:
    endpoint = Endpoint(right=lambda said: "keys" not in said)
    arguments = ("--out", "judged", "--strategy", "vanilla", "--strategy", "rit")
    done, asked = await evaluated(indexed, endpoint, *arguments, **prices("MODEL__PRICES"))
    assert done.returncode == 0, done.stderr
    assert "The model will be asked 12 to 42 times, the judge 6 times, at a price that is not known." in done.stdout
    figures = json.loads((indexed / "judged" / "report.json").read_text(encoding="utf-8"))
    assert [(row["accuracy"]["hits"], row["accuracy"]["of"]) for row in figures["rows"]] == [(2, 3), (2, 3)]
    assert all(row["cost"] for row in figures["rows"])
    assert "Answers by answerer, judged by judge." in figures["notes"]
    assert asked >= 3 * (1 + 3) + 3

    done, asked = await evaluated(indexed, endpoint, *arguments, **prices("MODEL__PRICES"))
    assert (done.returncode, asked) == (0, 0)


async def test_dollars_are_a_ceiling_only_where_all_prices_are_known(indexed: Path) -> None:
    arguments = ("--out", "bounded", "--strategy", "vanilla", "--max-cost", "0.0001")
    for known in ({}, prices("MODEL__PRICES"), {"RITBOT_MODEL__PRICES__INPUT": "1"}):
        done, asked = await evaluated(indexed, Endpoint(), *arguments, **known)
        assert (done.returncode, asked) == (2, 0)
        assert "--max-tokens" in done.stderr
    known = prices("MODEL__PRICES") | prices("EVALUATION__JUDGE_PRICES")
    done, asked = await evaluated(indexed, Endpoint(), *arguments, "--concurrency", "1", **known)
    assert done.returncode == 1, done.stderr
    assert asked == 2, "one answer and its verdict"
    assert "Stopped: the ceiling is reached." in done.stdout
    assert "Incomplete: 2 of 3 answers are missing." in done.stdout
    assert "(incomplete)" in (indexed / "bounded" / "report.md").read_text(encoding="utf-8")
    done, asked = await evaluated(indexed, Endpoint(), "--out", "bounded", "--strategy", "vanilla", **known)
    assert (done.returncode, asked) == (0, 4)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
async def test_a_run_that_is_stopped_half_way_goes_on(indexed: Path, number: signal.Signals) -> None:
    out = f"stopped-{number.name}"
    reached, endpoint = asyncio.Event(), Endpoint()

    def holds(request: Request) -> Scripted:
        if len(endpoint.answered) >= 2:
            reached.set()
            return Answer((text("too late"),), delay=30.0)
        return endpoint(request)

    arguments = ("eval", "questions.jsonl", "--out", out, "--strategy", "vanilla", "--no-judge", "--concurrency", "1")
    async with MessagesApi() as api:
        api.always(holds)
        process = FORKS.start(indexed, *arguments, env=environment(**with_model(api)))
        async with asyncio.timeout(100):
            await reached.wait()
        process.send_signal(number)
        await asyncio.to_thread(ended, process)
    done, asked = await evaluated(indexed, Endpoint(), *arguments[2:])
    assert done.returncode == 0, done.stderr
    assert "3 answers, 2 of them there already" in done.stdout
    assert asked == 1


def ended(process: Forked) -> None:
    out, err = process.communicate(60)
    code = process.wait()
    if code != -signal.SIGKILL:
        assert code == 130, err
        assert "Stopped: it was interrupted." in out
        assert "Incomplete: 1 of 3 answers are missing." in out


def test_mistakes_in_the_questions_are_told_all_at_once_with_their_lines(indexed: Path) -> None:
    (indexed / "wrong.jsonl").write_text('{"question": "Why?"}\n{"quesiton": "How?"}\nno\n', encoding="utf-8")
    done = ritbot(indexed, "eval", "wrong.jsonl")
    assert done.returncode == 2
    assert "wrong.jsonl:2: 'quesiton' is not known: did you mean 'question'?" in done.stderr
    assert "wrong.jsonl:3: this is not JSON" in done.stderr
    assert not (indexed / "eval" / "wrong").exists()


def test_a_folder_with_answers_to_other_questions_is_not_mixed_with_these(indexed: Path) -> None:
    (indexed / "other.jsonl").write_text('{"question": "Why?"}\n', encoding="utf-8")
    arguments = ("--reader", "top", "--strategy", "vanilla", "--out", "mixed")
    assert ritbot(indexed, "eval", "questions.jsonl", *arguments).returncode == 0
    done = ritbot(indexed, "eval", "other.jsonl", *arguments)
    assert done.returncode == 2
    assert "mixed holds answers to other questions: name another folder with --out" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        (("nowhere.jsonl",), 3, "No such file or directory: nowhere.jsonl"),
        (("questions.jsonl", "--strategy", "ritt"), 2, "there is no strategy ritt; did you mean rit?"),
        (("questions.jsonl", "--strategy", "none"), 2, "none is a model alone"),
        (("questions.jsonl", "--reader", "best"), 2, "there is no scripted reader best; there are top, oracle"),
        (("questions.jsonl", "--judge"), 2, "a model must be set"),
        (("questions.jsonl", "--sweep", "m=5"), 2, "m cannot be swept"),
        (("questions.jsonl", "--strategy", "vanilla", "--sweep", "n=5"), 2, "--sweep n needs one of"),
        (("questions.jsonl", "--max-cost", "0"), 2, "above 0"),
        (("questions.jsonl", "--site", "squash"), 2, "There is no site called squash"),
        (("questions.jsonl", "--out", "ritbot.toml"), 3, "ritbot.toml"),
        (("questions.jsonl", "--folder", "elsewhere"), 3, "ritbot index"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_asked(
    indexed: Path, arguments: tuple[str, ...], status: int, told: str
) -> None:
    done = ritbot(indexed, "eval", *arguments)
    assert done.returncode == status, done.stderr
    assert told in done.stderr.replace("\n", " ")
