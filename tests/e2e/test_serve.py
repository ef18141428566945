"""`ritbot serve` as a user runs it, and what other commands do beside it."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import re
import signal
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.commands import PUMPKIN, RITBOT, environment, imported, keyed, lay_out, ritbot
from tests.e2e.forked import FORKS, Forked
from tests.fakes.messages_api import MessagesApi, cited
from tests.fakes.site import html

QUESTION = "How often should I rotate the signing keys?"


def until(condition: Callable[[], object], why: Callable[[], str]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, why()
        time.sleep(0.05)


@dataclass
class Served:
    """A `ritbot serve` in a process of its own, with what it said."""

    folder: Path
    process: Forked | subprocess.Popen[bytes]

    @property
    def said(self) -> str:
        return (self.folder / "said").read_text(encoding="utf-8")

    @property
    def address(self) -> str:
        found = re.search(r"health +(http://127\.0\.0\.1:\d+)/readyz", self.said)
        assert found, self.said
        return found[1]

    def events(self, name: str) -> list[dict[str, Any]]:
        lines = (self.folder / "log").read_text(encoding="utf-8").splitlines()
        return [event for line in lines if line.startswith("{") and (event := json.loads(line)).get("event") == name]

    def logged(self, name: str, count: int = 1) -> None:
        """Wait until its log has so many events of this name."""
        until(lambda: len(self.events(name)) >= count or self.process.poll() is not None, lambda: self.said)
        assert len(self.events(name)) >= count, (self.folder / "log").read_text(encoding="utf-8")

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(60)


@contextmanager
def serving(folder: Path, env: Mapping[str, str] | None = None, *, fresh: bool = False) -> Iterator[Served]:
    """It has indexed what it watches, and takes questions."""
    environ = environment(RITBOT_LOG__LEVEL="debug", RITBOT_LOG__FORMAT="json", **(env or {}))
    process: Forked | subprocess.Popen[bytes]
    with (folder / "said").open("wb") as said, (folder / "log").open("wb") as log:
        if fresh:
            process = subprocess.Popen([*RITBOT, "serve"], cwd=folder, env=environ, stdout=said, stderr=log)
        else:
            process = FORKS.start(folder, "serve", env=environ, out=said.fileno(), err=log.fileno())
    served = Served(folder, process)
    try:
        served.logged("event_handled", len(PUMPKIN))
        yield served
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(lay_out(tmp_path_factory.mktemp("served")), fresh=True) as served:
        yield served


def told(done: subprocess.CompletedProcess[str]) -> tuple[int, str]:
    """Exit status and output, but for what differs each time: seconds, trace ids, how long ago."""
    changing = r"\d+\.\d+ s\b|trace id \w+|checked .*"
    return done.returncode, re.sub(changing, "…", done.stdout)


def test_it_says_where_it_listens_and_what_it_watches(served: Served) -> None:
    for path in ("/healthz", "/readyz"):
        with urllib.request.urlopen(served.address + path, timeout=10) as answer:
            assert answer.status == 200
    assert "/data/socket)" in served.said
    assert "watches    pumpkin (" in served.said


def test_what_it_writes_is_for_its_owner_alone(served: Served) -> None:
    data = served.folder / "data"
    written = [data, *data.rglob("*")]
    assert len(written) > 5
    assert [path for path in written if path.stat().st_mode & 0o077] == []


def test_a_question_beside_it_is_answered_by_it_and_loads_no_model_itself(served: Served) -> None:
    before = len(served.events("question_answered"))
    done = imported(served.folder, "ask", QUESTION, "--json")
    assert json.loads(done.stdout)["sources"][0]["citations"][0]["path"] == ["Signing keys", "Rotating keys"]
    assert len(served.events("question_answered")) == before + 1
    assert "navigator" in done.modules
    assert done.modules.isdisjoint({"openvino", "torch", "transformers", "qdrant_edge", "anthropic", "starlette"})


def test_its_numbers_say_what_it_indexed_what_it_answered_and_what_waits(served: Served) -> None:
    ritbot(served.folder, "ask", QUESTION)
    with urllib.request.urlopen(served.address + "/metrics", timeout=10) as answer:
        numbers = dict(line.rsplit(" ", 1) for line in answer.read().decode().splitlines() if line[0] != "#")
    made, answered = served.events("event_handled"), served.events("question_answered")
    assert float(numbers['ritbot_page_events_total{kind="new"}']) == len(PUMPKIN)
    assert float(numbers["ritbot_embeddings_made_total"]) == sum(event["embedded"] for event in made) > 0
    assert float(numbers["ritbot_citations_total"]) == sum(event["cited"] for event in answered) > 0
    assert float(numbers["ritbot_answer_seconds_count"]) == len(answered)
    assert (numbers["ritbot_ready"], numbers['ritbot_events_waiting{topic="docs.pages"}']) == ("1.0", "0.0")
    assert time.time() - float(numbers['ritbot_site_looked_at_timestamp_seconds{site="pumpkin"}']) < 600
    assert numbers['ritbot_site_trouble{site="pumpkin"}'] == "0.0"


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("ask", QUESTION, "--site", "pumpkin"), 0, "once a year"),
        (("ask", "hello"), 0, "Ask me something"),
        (("ask", "Who won the football world cup in 1998?"), 1, "I found nothing"),
        (("ask", "Who won the football world cup in 1998? " * 3_000), 1, "Your question was very long"),
        (("ask", QUESTION, "--site", "carrot"), 2, "There is no site called carrot"),
        (("index",), 0, "3 unchanged"),
        (("index", "--rebuild"), 3, "is in use by `ritbot serve` (process"),
        (("index", "https://nowhere.invalid/"), 3, "nowhere.invalid"),
        (("sites", "remove", "pumpkin"), 3, "is in use by `ritbot serve` (process"),
        (("serve",), 3, "is in use by `ritbot serve` (process"),
        (("sites",), 0, "pumpkin"),
    ],
)
def test_beside_it_every_command_answers_or_says_who_holds_the_folder(
    served: Served, arguments: tuple[str, ...], status: int, said: str
) -> None:
    done = ritbot(served.folder, *arguments, env={"RITBOT_HTTP__PORT": "0"})
    assert (done.returncode, said in " ".join((done.stdout + done.stderr).split())) == (status, True), done


def test_a_site_that_is_indexed_beside_it_is_asked_about_and_watched_by_it(tmp_path: Path) -> None:
    with serving(lay_out(tmp_path)) as served:
        (tmp_path / "more").mkdir()
        page = tmp_path / "more" / "gourd.html"
        page.write_text(html("Gourds", "<p>A gourd is dried for six weeks.</p>"), encoding="utf-8")
        done = ritbot(tmp_path, "index", "more")
        assert (done.returncode, "1 new" in done.stdout) == (0, True), done
        asked = ritbot(tmp_path, "ask", "How long is a gourd dried?", "--site", "more")
        assert "six weeks" in asked.stdout
        page.write_text(html("Gourds", "<p>A gourd is dried for nine weeks.</p>"), encoding="utf-8")
        until(lambda: "nine weeks" in ritbot(tmp_path, "ask", "How long is a gourd dried?").stdout, lambda: served.said)


def test_a_node_is_drawn_beside_it(served: Served) -> None:
    answer = json.loads(ritbot(served.folder, "ask", QUESTION, "--json").stdout)
    done = ritbot(served.folder, "tree", answer["sources"][0]["citations"][0]["node_id"])
    assert done.returncode == 0
    assert "Signing keys › Rotating keys" in done.stdout


def test_a_conversation_goes_through_it(served: Served) -> None:
    terminal, stdin = pty.openpty()
    os.write(terminal, f"{QUESTION}\nHow do I install Pumpkin with apt?\n\n".encode())
    command = [*RITBOT, "ask"]
    done = subprocess.run(
        command,
        cwd=served.folder,
        env=environment(),
        stdin=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    os.close(stdin)
    os.close(terminal)
    assert done.stdout.index("Rotating keys") < done.stdout.index("With apt")


def test_an_edited_page_is_asked_about_seconds_later(served: Served) -> None:
    before = len(served.events("event_handled"))
    page = html("Hoses", "<p>A garden hose is forty-two metres long.</p>")
    (served.folder / "html" / "hoses.html").write_text(page, encoding="utf-8")
    served.logged("event_handled", before + 1)
    assert "forty-two" in ritbot(served.folder, "ask", "How long is a garden hose?").stdout


def test_after_it_was_killed_the_same_question_gives_the_same_output_without_it(served: Served) -> None:
    there = told(ritbot(served.folder, "ask", QUESTION, "--trace"))
    served.end(signal.SIGKILL)
    assert (served.folder / "data" / "socket").is_socket()
    assert told(ritbot(served.folder, "ask", QUESTION, "--trace")) == there
    assert there[0] == 0


async def test_a_client_that_is_killed_ends_its_question_and_a_stop_waits_for_the_others(tmp_path: Path) -> None:
    async with MessagesApi() as api:
        api.call("get_toc", {"query": "never read"}, delay=60.0)
        api.call("get_toc", {"query": "rotate signing keys"}, delay=2.0)
        api.call("read", {"sections": [1, 2, 3, 4, 5, 6]})
        api.say(cited("Rotate them once a year.", (0, 0, 0)))
        await asyncio.to_thread(_kill_one_and_stop, lay_out(tmp_path / "site"), api, keyed(api.url))


def _kill_one_and_stop(folder: Path, api: MessagesApi, env: dict[str, str]) -> None:
    with serving(folder, env) as served:
        command = [*RITBOT, "ask", QUESTION, "--json"]
        killed = subprocess.Popen(command, cwd=folder, env=environment(), stdout=subprocess.DEVNULL)
        until(lambda: len(api.requests) == 1, lambda: served.said)
        killed.kill()
        killed.wait()
        served.logged("local_request_cancelled")
        stays = subprocess.Popen(command, cwd=folder, env=environment(), stdout=subprocess.PIPE, text=True)
        until(lambda: len(api.requests) == 2, lambda: served.said)
        assert served.end() == 0
        output, _ = stays.communicate(timeout=60)
    assert json.loads(output)["text"] == "Rotate them once a year. [1]"
    assert stays.returncode == 0
    assert "Stopped: 3 new" in served.said
    assert not (folder / "data" / "socket").exists()
