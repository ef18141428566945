"""The `ritbot` command as a user types it: real HTML, the real embedding model, one process a command."""

import asyncio
import json
import re
import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest

from deploy.settings.root import describe
from tests.e2e.commands import imported, indexed, lay_out, ritbot, start
from tests.e2e.forked import Forked
from tests.fakes.docsite import DocSite, dripping
from tests.fakes.messages_api import MessagesApi, cited
from tests.fakes.site import html
from tests.waiting import eventually


def test_an_answer_quotes_and_links_the_section(pumpkin: Path) -> None:
    done = ritbot(pumpkin, "ask", "How often should I rotate the signing keys?", "--json", fresh=True)
    answer = json.loads(done.stdout)
    assert done.returncode == 0
    assert answer["outcome"] == "answered"
    first = answer["sources"][0]["citations"][0]
    assert first["path"] == ["Signing keys", "Rotating keys"]
    assert first["node_link"] == "https://pumpkin.example/docs/keys.html#rotate"
    assert first["link"].startswith("https://pumpkin.example/docs/keys.html#rotate:~:text=Rotate%20the")
    assert "once a year" in answer["text"]


NEVER_WITHOUT_SERVERS = frozenset(
    "torch transformers sentence_transformers sklearn scipy matplotlib jinja2 anthropic slack_bolt slack_sdk aiokafka "
    "opensearchpy qdrant_client aiohttp starlette uvicorn cryptography watchfiles simplemma".split()
)
NEVER_WITHOUT_TEXT = NEVER_WITHOUT_SERVERS | {"numpy", "openvino", "tokenizers"}
NEVER_FOR_HELP = NEVER_WITHOUT_TEXT | {"qdrant_edge", "selectolax", "httpx", "snowballstemmer", "sentencex"}


@pytest.mark.parametrize(
    ("arguments", "never"),
    [
        (("--help",), NEVER_FOR_HELP),
        (("ask", "--help"), NEVER_FOR_HELP),
        (("sites",), NEVER_WITHOUT_TEXT),
        (("tree", "html/keys.html"), NEVER_WITHOUT_TEXT),
        (("ask", "How often should I rotate the signing keys?"), NEVER_WITHOUT_SERVERS),
    ],
)
def test_a_command_loads_what_it_needs(pumpkin: Path, arguments: tuple[str, ...], never: frozenset[str]) -> None:
    done = imported(pumpkin, *arguments)
    assert {"deploy", "typer"} <= done.modules
    assert sorted(never & done.modules) == []


def test_the_terminal_shows_text_sources_and_the_way(pumpkin: Path) -> None:
    done = ritbot(pumpkin, "ask", "How do I install Pumpkin with apt?", "--trace")
    assert "apt install pumpkin" in done.stdout
    assert "[1] Installing Pumpkin › With apt" in done.stdout
    assert "https://pumpkin.example/docs/install.html#apt" in done.stdout
    assert "get_toc 'How do I install Pumpkin with apt?'" in done.stdout
    assert "●" in done.stdout


def test_what_the_documentation_does_not_say_is_not_answered(pumpkin: Path) -> None:
    done = ritbot(pumpkin, "ask", "Who won the football world cup in 1998?")
    assert done.returncode == 1
    assert "I found nothing in the documentation" in done.stdout
    assert "The nearest sections" in done.stdout
    assert "Sources" not in done.stdout


async def test_a_model_writes_the_answer_and_every_mark_has_a_section(pumpkin: Path) -> None:
    async with MessagesApi() as api:
        api.call("get_toc", {"query": "rotate signing keys"}, say="Nothing is known yet.")
        api.call("read", {"sections": [1, 2, 3, 4, 5, 6]}, say="Reading all of it.")
        api.say(cited("Rotate them once a year.", (0, 0, 0)), " The rest is silence.")
        env = {"RITBOT_MODEL__API_KEY": "test", "RITBOT_MODEL__BASE_URL": api.url, "RITBOT_MODEL__CITATIONS": "true"}
        done = await asyncio.to_thread(ritbot, pumpkin, "ask", "How often are keys rotated?", "--json", env=env)
    answer = json.loads(done.stdout)
    assert answer["outcome"] == "answered"
    assert answer["text"] == "Rotate them once a year. [1] The rest is silence."
    assert len(answer["sources"]) == 1
    assert answer["trace"]["usage"]["input_tokens"] > 0


def test_a_model_that_is_down_ends_in_a_plain_sentence(pumpkin: Path) -> None:
    env = {
        "RITBOT_MODEL__API_KEY": "test",
        "RITBOT_MODEL__BASE_URL": "http://127.0.0.1:9",
        "RITBOT_MODEL__RETRIES": "0",
    }
    done = ritbot(pumpkin, "ask", "How often are keys rotated?", env=env)
    assert done.returncode == 3
    assert "Traceback" not in done.stdout + done.stderr
    assert "Trace id" in done.stdout


def test_tree_prints_a_page_in_the_fields_of_the_cases(pumpkin: Path) -> None:
    url = "https://pumpkin.example/docs/keys.html"
    done = ritbot(pumpkin, "tree", "html/keys.html", "--json", "--url", url, fresh=True)
    page = json.loads(done.stdout)
    assert [(n["title"], n["anchor"], n["parent"]) for n in page["nodes"]] == [
        ("Signing keys", None, None),
        ("Rotating keys", "rotate", 0),
    ]
    assert page["canonical"] == url


def test_tree_finds_a_node_by_the_beginning_of_its_id(pumpkin: Path) -> None:
    answer = json.loads(ritbot(pumpkin, "ask", "Rotating signing keys", "--json").stdout)
    node = answer["sources"][0]["citations"][0]["node_id"]
    done = ritbot(pumpkin, "tree", node[:12])
    assert "Signing keys › Rotating keys" in done.stdout
    assert ritbot(pumpkin, "tree", "ffffffffffff").returncode == 1


def test_doctor_and_sites_tell_what_is_there(pumpkin: Path) -> None:
    doctor, sites = ritbot(pumpkin, "doctor", fresh=True), ritbot(pumpkin, "sites", fresh=True)
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


def test_settings_are_a_screen_of_names_and_each_is_explained_by_name(tmp_path: Path) -> None:
    (tmp_path / "ritbot.toml").write_text("[embedding]\nthreads = 2\n", encoding="utf-8")
    names, everything, one = (ritbot(tmp_path, "settings", *more).stdout for more in ((), ("--all",), ("threads",)))
    rows = describe()
    assert len(names.splitlines()) < 60
    for shown in (names, everything):
        assert all(re.search(rf"\b{row.name.rpartition('.')[2]}\b", shown) for row in rows)
    assert rows[0].help.split()[0] in everything
    assert "in force: 2   (from " in one


def test_a_site_is_removed_with_everything_of_it(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "p.html").write_text(html(name, f"<p>The word is {name}.</p>"), encoding="utf-8")
        assert ritbot(tmp_path, "index", name, "--folder", "data").returncode == 0
    removed = ritbot(tmp_path, "sites", "remove", "one", "--folder", "data", fresh=True)
    assert "Removed one: 1 page." in removed.stdout
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


@pytest.mark.parametrize("command", ["index", "reindex"])
async def test_a_question_beside_a_run_is_answered_from_what_is_there(tmp_path: Path, command: str) -> None:
    indexed(lay_out(tmp_path))
    async with DocSite() as docs:
        docs.pages["/"] = (
            "<title>Slow</title><h1>Slow</h1><p>It comes to an end only when it is told to.</p><a href=/b>b</a>"
        )
        docs.pages["/b"] = "<title>B</title><h1>B</h1><p>More.</p>"
        again = [command]
        if command == "index":
            again += [docs.url(), "--allow-private"]
        else:
            done = await asyncio.to_thread(ritbot, tmp_path, "index", docs.url(), "--allow-private")
            assert done.returncode == 0, done.stdout + done.stderr
            with closing(sqlite3.connect(tmp_path / "data/trees.sqlite")) as db, db:
                db.execute(
                    "UPDATE records SET page = CAST(json_set(CAST(page AS TEXT), '$.parser_version', '0') AS BLOB)"
                )
        known = docs.count("/b")
        docs.pages["/b"] = dripping([b"<p>More."] * 300, 1.0)
        running = start(tmp_path, *again)
        try:
            await eventually(lambda: docs.count("/b") > known, 60)
            asked = await asyncio.to_thread(ritbot, tmp_path, "ask", "How often should I rotate the signing keys?")
            assert running.poll() is None
        finally:
            running.send_signal(signal.SIGINT)
            await asyncio.to_thread(running.communicate, timeout=60)
    assert asked.returncode == 0, asked.stdout + asked.stderr
    assert "once a year" in asked.stdout
    assert not (tmp_path / "data" / "socket").exists()


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
