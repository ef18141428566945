"""The manual says only what is there: its commands parse, its settings exist, its pages can be reached."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import dropwhile
from pathlib import Path

import pytest
from typer.exceptions import TyperException

from bot.events import ANSWERS_TOPIC, QUESTIONS_TOPIC
from deploy.commands.cli import app
from deploy.settings.messages import fields
from deploy.settings.root import Settings, describe, load
from deploy.settings.sources import variable
from ingest.events.topics import dead_topic
from ingest.text.words import _STEMMERS
from tests.servers.qdrant import URL

ROOT = Path(__file__).resolve().parents[3]
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "deploy/manual").glob("*.md"))}

FENCE = re.compile(r"^```(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`\n]+)`")
SECTION = re.compile(
    r"(?<![\w./])(?:index|stores|events|http|watch|embedding|retrieval|navigator|model|strategies|router|judge|enrichment|evaluation|bot|slack|answers|stale|gaps|log|web|sites)"
    r"\.[a-z_.]*[a-z_](?![\w./])"
)
TOPICS = {topic for name in (QUESTIONS_TOPIC, ANSWERS_TOPIC) for topic in (name, dead_topic(name))}
"""They look like settings of [bot]."""
OLD = {"evaluation.judge", "events.session"}
"""Shown as an example of what is told of a setting of an earlier version."""
VARIABLE = re.compile(r"RITBOT_\w+")
BEFORE_A_PROGRAM = re.compile(r"[\d*/,-]+|\w+=.*|do")
"""When a crontab runs it, what is set for it alone, and the shell's own word."""
FILE_ENDINGS = (".html", ".md", ".sqlite", ".json", ".jsonl", ".toml")
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:root|work|tmp|home/(?!me/))|pyenv|site-packages", re.IGNORECASE)


def named_settings() -> set[str]:
    return {row.name.replace("sites[]", "sites") for row in describe({})}


def blocks(page: str, *languages: str) -> Iterator[str]:
    return (body for language, body in FENCE.findall(page) if language in languages)


def commands_in(text: str) -> Iterator[list[str]]:
    """The arguments of every call of ritbot in shell lines or a crontab, pipes and redirections aside."""
    for line in text.splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words: list[str] = []
        for word in [*lexer, ";"]:
            if not set(word) <= set("|&;<>()"):
                words.append(word)
                continue
            program, *arguments = [*dropwhile(BEFORE_A_PROGRAM.fullmatch, words), ""]
            if program.rpartition("/")[2] == "ritbot":
                yield arguments[:-1]
            words = []


def commands_of(*languages: str) -> list[tuple[str, list[str]]]:
    return [(n, c) for n, page in PAGES.items() for body in blocks(page, *languages) for c in commands_in(body)]


def commands_in_sentences() -> list[tuple[str, list[str]]]:
    texts = [(name, code) for name, page in PAGES.items() for code in INLINE.findall(FENCE.sub("", page))]
    return [(name, command) for name, code in texts if code.startswith("ritbot ") for command in commands_in(code)]


def parse(arguments: list[str]) -> None:
    """As the command would, up to the point of running it. Raises TyperException."""
    context = app.make_context("ritbot", list(arguments))
    name, command, rest = app.resolve_command(context, list(arguments))
    assert command is not None
    command.make_context(name, rest, parent=context)


def test_there_are_at_least_twenty_pages() -> None:
    assert len(PAGES) >= 20


def test_every_page_is_in_one_table_of_contents_and_every_entry_is_a_page() -> None:
    entries = [
        line for body in TOCTREE.findall(PAGES["index"]) for line in body.splitlines() if line and line[0] not in ":"
    ]
    assert sorted([*entries, "index"]) == sorted(PAGES)


@pytest.mark.parametrize(("page", "arguments"), commands_of("sh"))
def test_every_command_in_the_shell_blocks_of_a_page_parses(page: str, arguments: list[str]) -> None:
    parse(arguments)


@pytest.mark.parametrize(("page", "arguments"), commands_in_sentences())
def test_every_command_in_the_sentences_of_a_page_exists(page: str, arguments: list[str]) -> None:
    """A command may be named without what it works on."""
    bare = {
        "tree": ["page.html"],
        "cite": ["words"],
        "curate": ["questions.jsonl", "--out", "router"],
        "questions": ["site"],
    }
    parse([*arguments, *bare.get(arguments[0], ())] if len(arguments) == 1 else arguments)


@pytest.mark.parametrize(
    "line",
    ["ritbot rewind", "ritbot ask --fast x", "A=1 /srv/bin/ritbot index docs --nosuch 2>&1", "true && ritbot dance"],
)
def test_a_command_that_is_not_there_is_found(line: str) -> None:
    (arguments,) = commands_in(line)
    with pytest.raises(TyperException, match=r"No such (command|option)"):
        parse(arguments)


@pytest.mark.parametrize("page", PAGES)
def test_every_setting_that_a_page_names_exists(page: str) -> None:
    named = {name for name in SECTION.findall(PAGES[page]) if not name.endswith(FILE_ENDINGS)}
    named = {name for name in named if not re.fullmatch(r"sites\.docs\.include\.?|navigator\.budgett", name)}
    assert named - named_settings() - {"model.prices", "router.prices", "judge.prices"} - OLD - TOPICS == set()


def test_settings_of_every_section_are_looked_for() -> None:
    assert {row.name for row in describe({}) if "." in row.name and "[" not in row.name} == {
        name for row in describe({}) for name in SECTION.findall(row.name)
    }


def test_a_setting_that_is_not_there_is_found() -> None:
    assert set(SECTION.findall("set `retrieval.gone` or `sites[].delay`")) - named_settings() == {"retrieval.gone"}


@pytest.mark.parametrize("page", PAGES)
def test_every_assignment_in_the_sentences_of_a_page_is_one_of_a_setting(page: str) -> None:
    assigned = {code.partition(" = ")[0] for code in INLINE.findall(FENCE.sub("", PAGES[page])) if " = " in code}
    assert {name for name in assigned if not {name, f"sites.{name}"} & named_settings()} == set()


@pytest.mark.parametrize("page", PAGES)
def test_every_variable_that_a_page_names_exists(page: str) -> None:
    known = {variable(path) for path, _ in fields(Settings)} | {
        "RITBOT_CONFIG",
        "RITBOT_",
        "RITBOT_EVENTS__SESSION",
        URL,
    }
    assert set(VARIABLE.findall(PAGES[page])) - known == set()


@pytest.mark.parametrize("toml", [body for page in PAGES.values() for body in blocks(page, "toml")])
def test_every_settings_file_of_the_manual_is_taken(toml: str, tmp_path: Path) -> None:
    path = tmp_path / "ritbot.toml"
    path.write_text(toml, encoding="utf-8")
    load(path, {"HOME": "/home/ann"})


@pytest.mark.parametrize("page", PAGES)
def test_no_page_names_a_path_of_the_machine_that_it_was_written_on(page: str) -> None:
    assert MACHINE_PATH.findall(PAGES[page]) == []


@pytest.mark.parametrize("page", PAGES)
def test_no_two_sections_of_a_page_share_a_title(page: str) -> None:
    titles = re.findall(r"^#+ (.+)$", FENCE.sub("", PAGES[page]), re.MULTILINE)
    assert sorted(set(titles)) == sorted(titles)


def test_the_page_on_languages_lists_those_that_have_a_stemmer() -> None:
    listed = re.search(r'"indexing": (.+)\.\n', PAGES["embedding-models"])
    assert listed
    names = re.split(r", | and ", listed[1].lower())
    assert sorted(names) == sorted(set(_STEMMERS.values()))


def test_the_settings_reference_has_a_place_for_every_section_of_settings() -> None:
    places = re.findall(r"^<!-- settings: (\S+) -->$", PAGES["settings-reference"], re.MULTILINE)
    assert sorted(places) == sorted({row.name.rpartition(".")[0] for row in describe({})})
