"""The `ritbot` command as a user types it: real HTML, the real embedding model, one process a command."""

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e.forked import FORKS, Forked
from tests.fakes.messages_api import MessagesApi, cited
from tests.fakes.site import html

RITBOT = (sys.executable, "-c", "from deploy.commands.cli import main; main()")
PAGES = {
    "install": html(
        "Installing Pumpkin",
        "<p>Pumpkin runs on Linux.</p><h2 id='apt'>With apt</h2><p>To install Pumpkin with apt, run this:</p>"
        "<pre>apt install pumpkin</pre><h2 id='port'>Changing the port</h2>"
        "<p>Pumpkin listens on port 8080. Set PUMPKIN_PORT to listen on another port.</p>",
    ),
    "keys": html(
        "Signing keys",
        "<p>Every release is signed.</p><h2 id='rotate'>Rotating keys</h2><p>Rotate the signing keys once a year "
        "with pumpkin-keys rotate. The old key stays valid for thirty days.</p>",
    ),
    "backup": html("Backups", "<p>Copy the folder /var/lib/pumpkin while nothing runs. A backup holds all data.</p>"),
}


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("RITBOT_", "ANTHROPIC_"))}
    return {**kept, "COLUMNS": "100", "RITBOT_HTTP__PORT": "0", **more}


def start(
    folder: Path, *arguments: str, env: Mapping[str, str] | None = None, fresh: bool = False
) -> Forked | subprocess.Popen[str]:
    """Forked from a Python that has loaded the libraries; `fresh`: in a Python of its own, as a shell starts it."""
    environ = environment(**(env or {}))
    if not fresh:
        return FORKS.start(folder, *arguments, env=environ)
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    return subprocess.Popen(
        [*RITBOT, *arguments], cwd=folder, env=environ, stdin=nothing, stdout=pipe, stderr=pipe, text=True
    )


def ritbot(
    folder: Path, *arguments: str, env: Mapping[str, str] | None = None, fresh: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run it to its end."""
    process = start(folder, *arguments, env=env, fresh=fresh)
    try:
        out, err = process.communicate(timeout=110)
    finally:
        process.kill()
        status = process.wait()
    return subprocess.CompletedProcess(arguments, status, out, err)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working directory with a site, its settings, and its index."""
    folder = tmp_path_factory.mktemp("work")
    (folder / "html").mkdir()
    for name, page in PAGES.items():
        (folder / "html" / f"{name}.html").write_text(page, encoding="utf-8")
    (folder / "ritbot.toml").write_text(
        '[index]\nfolder = "data"\n[[sites]]\nname = "pumpkin"\nstart = "html"\nbase_url = "https://pumpkin.example/docs/"\n',
        encoding="utf-8",
    )
    done = ritbot(folder, "index", fresh=True)
    assert done.returncode == 0, done.stderr
    assert "3 new" in done.stdout
    return folder


def test_an_answer_quotes_and_links_the_section(place: Path) -> None:
    done = ritbot(place, "ask", "How often should I rotate the signing keys?", "--json", fresh=True)
    answer = json.loads(done.stdout)
    assert done.returncode == 0
    assert answer["outcome"] == "answered"
    first = answer["sources"][0]["citations"][0]
    assert first["path"] == ["Signing keys", "Rotating keys"]
    assert first["node_link"] == "https://pumpkin.example/docs/keys.html#rotate"
    assert first["link"].startswith("https://pumpkin.example/docs/keys.html#rotate:~:text=Rotate%20the")
    assert "once a year" in answer["text"]


def test_the_terminal_shows_text_sources_and_the_way(place: Path) -> None:
    done = ritbot(place, "ask", "How do I install Pumpkin with apt?", "--trace")
    assert "apt install pumpkin" in done.stdout
    assert "[1] Installing Pumpkin › With apt" in done.stdout
    assert "https://pumpkin.example/docs/install.html#apt" in done.stdout
    assert "get_toc 'How do I install Pumpkin with apt?'" in done.stdout
    assert "●" in done.stdout


def test_what_the_documentation_does_not_say_is_not_answered(place: Path) -> None:
    done = ritbot(place, "ask", "Who won the football world cup in 1998?")
    assert done.returncode == 1
    assert "I found nothing in the documentation" in done.stdout
    assert "The nearest sections" in done.stdout
    assert "Sources" not in done.stdout


async def test_a_model_writes_the_answer_and_every_mark_has_a_section(place: Path) -> None:
    async with MessagesApi() as api:
        api.call("get_toc", {"query": "rotate signing keys"}, say="Nothing is known yet.")
        api.call("read", {"sections": [1, 2, 3, 4, 5, 6]}, say="Reading all of it.")
        api.say(cited("Rotate them once a year.", (0, 0, 0)), " The rest is silence.")
        env = {"RITBOT_MODEL__API_KEY": "test", "RITBOT_MODEL__BASE_URL": api.url, "RITBOT_MODEL__CITATIONS": "true"}
        done = await asyncio.to_thread(ritbot, place, "ask", "How often are keys rotated?", "--json", env=env)
    answer = json.loads(done.stdout)
    assert answer["outcome"] == "answered"
    assert answer["text"] == "Rotate them once a year. [1] The rest is silence."
    assert len(answer["sources"]) == 1
    assert answer["trace"]["usage"]["input_tokens"] > 0


def test_a_model_that_is_down_ends_in_a_plain_sentence(place: Path) -> None:
    env = {
        "RITBOT_MODEL__API_KEY": "test",
        "RITBOT_MODEL__BASE_URL": "http://127.0.0.1:9",
        "RITBOT_MODEL__RETRIES": "0",
    }
    done = ritbot(place, "ask", "How often are keys rotated?", env=env)
    assert done.returncode == 3
    assert "Traceback" not in done.stdout + done.stderr
    assert "Trace id" in done.stdout


def test_tree_prints_a_page_in_the_fields_of_the_cases(place: Path) -> None:
    url = "https://pumpkin.example/docs/keys.html"
    done = ritbot(place, "tree", "html/keys.html", "--json", "--url", url, fresh=True)
    page = json.loads(done.stdout)
    assert [(n["title"], n["anchor"], n["parent"]) for n in page["nodes"]] == [
        ("Signing keys", None, None),
        ("Rotating keys", "rotate", 0),
    ]
    assert page["canonical"] == url


def test_tree_finds_a_node_by_the_beginning_of_its_id(place: Path) -> None:
    answer = json.loads(ritbot(place, "ask", "Rotating signing keys", "--json").stdout)
    node = answer["sources"][0]["citations"][0]["node_id"]
    done = ritbot(place, "tree", node[:12])
    assert "Signing keys › Rotating keys" in done.stdout
    assert ritbot(place, "tree", "ffffffffffff").returncode == 1


def test_doctor_and_sites_tell_what_is_there(place: Path) -> None:
    doctor, sites = ritbot(place, "doctor", fresh=True), ritbot(place, "sites", fresh=True)
    assert doctor.returncode == 0, doctor.stdout
    assert "Everything is in order." in doctor.stdout
    assert "pumpkin" in sites.stdout


def test_wrong_settings_say_which_and_what_they_take(tmp_path: Path) -> None:
    (tmp_path / "ritbot.toml").write_text("[retrieval]\nn = 'many'\nkapa = 3\n", encoding="utf-8")
    done = ritbot(tmp_path, "ask", "x", fresh=True)
    assert done.returncode == 2
    assert "retrieval.n" in done.stderr
    assert "retrieval.kapa" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_site_is_removed_with_everything_of_it(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "p.html").write_text(html(name, f"<p>The word is {name}.</p>"), encoding="utf-8")
        assert ritbot(tmp_path, "index", name, "--folder", "data").returncode == 0
    removed = ritbot(tmp_path, "sites", "remove", "one", "--folder", "data", fresh=True)
    assert "Removed one: 1 pages." in removed.stdout
    listed = ritbot(tmp_path, "sites", "--folder", "data").stdout
    assert "two" in listed
    assert "one" not in listed
    assert ritbot(tmp_path, "ask", "What is the word one?", "--site", "one", "--folder", "data").returncode == 2


def test_without_an_index_it_says_how_to_make_one(tmp_path: Path) -> None:
    done = ritbot(tmp_path, "ask", "x", "--folder", "nowhere")
    assert done.returncode == 3
    assert "ritbot index" in done.stderr


def test_a_folder_that_is_not_there_is_a_plain_error(tmp_path: Path) -> None:
    done = ritbot(tmp_path, "index", "nowhere", "--folder", "data")
    assert done.returncode == 2
    assert "nowhere" in done.stderr
    assert "Traceback" not in done.stderr


def pages_in(folder: Path) -> int:
    """How many page records the TreeStore holds; 0 while it is not made yet."""
    try:
        with closing(sqlite3.connect(f"{(folder / 'trees.sqlite').as_uri()}?mode=ro", uri=True)) as db:
            return int(db.execute("SELECT count(*) FROM records").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def test_an_interrupted_index_goes_on_and_loses_nothing(tmp_path: Path) -> None:
    (tmp_path / "html").mkdir()
    for n in range(60):
        text = " ".join(f"<p>Paragraph {k} of page {n} tells about subject {n * 100 + k}.</p>" for k in range(10))
        (tmp_path / "html" / f"p{n:02}.html").write_text(html(f"Page {n}", text), encoding="utf-8")
    running = start(tmp_path, "index", "html", "--folder", "data")
    deadline = time.monotonic() + 90
    while not pages_in(tmp_path / "data") and running.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    output, _ = running.communicate(timeout=60)
    assert running.returncode == 130, output
    assert "nothing is lost" in output
    done = ritbot(tmp_path, "index", "html", "--folder", "data")
    assert done.returncode == 0
    assert "Going on with the run" in done.stdout
    again = ritbot(tmp_path, "index", "html", "--folder", "data")
    assert "60 unchanged" in again.stdout
    assert " 0 embedded" in again.stdout


def test_the_watcher_notices_an_edited_file_and_stops_when_told(tmp_path: Path) -> None:
    (tmp_path / "html").mkdir()
    page = tmp_path / "html" / "pump.html"
    page.write_text(html("Pump", "<p>The pump is blue.</p>"), encoding="utf-8")
    env = {"RITBOT_LOG__LEVEL": "debug", "RITBOT_LOG__FORMAT": "json"}
    running = start(tmp_path, "watch", "html", "--folder", "data", env=env)
    try:
        handled(running, "new")
        page.write_text(html("Pump", "<p>The pump is crimson.</p>"), encoding="utf-8")
        handled(running, "changed")
    finally:
        running.send_signal(signal.SIGTERM)
        output, _ = running.communicate(timeout=60)
    assert running.returncode == 0, output
    assert "1 changed, 1 new" in output
    assert "crimson" in ritbot(tmp_path, "ask", "Which colour is the pump?", "--folder", "data").stdout


def handled(running: Forked | subprocess.Popen[str], kind: str) -> None:
    """Wait until the log says that a page was handled, with this outcome; its end is a failure."""
    assert running.stderr is not None
    for line in running.stderr:
        if line.startswith("{") and json.loads(line).get("event") == "event_handled":
            assert json.loads(line)["kind"] == kind
            return
    pytest.fail(f"the watcher ended before a page was {kind}")
