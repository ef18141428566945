"""The shape of the project, held by reading its source: who imports whom, which module knows which
vendor, what is pure, where the environment is read, how long a file may be.

Each rule is a function from a tree of files to the violations in it. It is tried twice: on this
project, where it must find none, and on a small tree with a planted violation, where it must find it.
"""

from __future__ import annotations

import ast
import fnmatch
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LAYERS = ("ingest", "navigator", "bot", "deploy")
"""From the bottom to the top; a layer imports itself and those before it."""

TOP_LEVEL = {*LAYERS, "tests", "pyproject.toml", "README.md", "Makefile", "LICENSE", "CHANGELOG.md"}
MOST_LINES = 500
"""Of one module: it is one idea, and no more."""

EVERYWHERE = {"structlog"}
VENDORS = {
    "aiohttp": ("bot/slack/outbound/client.py",),
    "aiokafka": ("ingest/events/kafka/*.py",),
    "annotated_types": ("deploy/settings/messages.py",),
    "anthropic": ("navigator/models/anthropic.py", "navigator/models/channel.py", "navigator/models/faults.py"),
    "cryptography": ("bot/store/sealing.py",),
    "defusedxml": ("ingest/sites/*.py",),
    "h11": ("deploy/serving/connections.py",),
    "httpx": ("bot/slack/inbound/sign_in.py", "deploy/serving/local_socket.py", "ingest/sites/*.py"),
    "httpx2": ("navigator/models/anthropic.py", "navigator/models/channel.py", "navigator/models/faults.py"),
    "jinja2": ("bot/web/pages.py", "navigator/evaluation/report/page.py"),
    "jwt": ("bot/slack/inbound/sign_in.py", "bot/web/sign_in.py"),
    "markdown_it": ("navigator/markdown/parse.py",),
    "markupsafe": ("navigator/evaluation/report/page.py",),
    "matplotlib": ("navigator/evaluation/report/plots.py",),
    "numpy": ("ingest/embedding/minilm.py", "navigator/evaluation/statistics.py", "navigator/extracts/model.py"),
    "openvino": ("ingest/embedding/minilm.py",),
    "opensearchpy": ("ingest/stores/cluster/opensearch.py",),
    "prometheus_client": ("deploy/serving/metrics.py",),
    "protego": ("ingest/sites/*.py",),
    "pydantic": (
        "bot/codec.py",
        "bot/events.py",
        "deploy/*.py",
        "ingest/codec.py",
        "ingest/events/codec.py",
        "navigator/codec.py",
        "navigator/evaluation/folder.py",
        "navigator/evaluation/results.py",
    ),
    "pydantic_core": ("deploy/settings/*.py",),
    "pydantic_settings": ("deploy/settings/root.py",),
    "qdrant_client": ("ingest/stores/cluster/vectors.py",),
    "qdrant_edge": ("ingest/stores/embedded/chunks.py",),
    "rich": ("bot/terminal/*.py", "bot/terminal/tree_view.py", "deploy/*.py"),
    "safetensors": ("ingest/embedding/minilm.py",),
    "scipy": ("navigator/evaluation/statistics.py",),
    "selectolax": ("ingest/html/*.py",),
    "sentence_transformers": ("ingest/embedding/sentence_transformers.py",),
    "sentencex": ("ingest/text/*.py",),
    "simplemma": ("ingest/text/compounds.py",),
    "slack_bolt": (
        "bot/slack/inbound/app.py",
        "bot/slack/inbound/oauth.py",
        "bot/slack/inbound/http_mode.py",
        "bot/slack/inbound/socket_mode.py",
        "bot/slack/workspaces.py",
    ),
    "slack_sdk": ("bot/slack/*.py",),
    "snowballstemmer": ("ingest/text/*.py",),
    "sqlite3": (
        "bot/store/sqlite.py",
        "bot/store/sqlite_editions.py",
        "bot/store/sqlite_gaps.py",
        "ingest/stores/*.py",
        "ingest/events/sqlite.py",
    ),
    "starlette": (
        "bot/web/a*.py",
        "bot/web/operating.py",
        "bot/web/responses.py",
        "bot/web/sign_in.py",
        "bot/slack/inbound/http_mode.py",
        "deploy/serving/connections.py",
        "deploy/serving/health.py",
        "deploy/serving/docs_hook.py",
        "deploy/wiring/ingest_roles.py",
        "deploy/serving/http.py",
        "deploy/serving/local_answers.py",
        "deploy/serving/roles.py",
        "deploy/commands/roles/serve.py",
        "deploy/wiring/web.py",
    ),
    "tokenizers": ("ingest/embedding/*.py",),
    "torch": ("ingest/embedding/sentence_transformers.py",),
    "transformers": ("ingest/embedding/sentence_transformers.py",),
    "typer": ("deploy/*.py",),
    "uvicorn": ("deploy/serving/connections.py", "deploy/serving/http.py"),
    "watchfiles": ("ingest/watch/watcher.py",),
}
"""Each vendor, and the only places that may know it. sqlite3 is a vendor here: it is one store of two."""

PURE = (
    "bot/codec.py", "bot/errors.py", "bot/events.py", "bot/freshness.py", "bot/gaps/as_questions.py", "bot/gaps/gap.py", "bot/gaps/report.py", "bot/model.py", "bot/ports.py",
    "bot/permalinks/[!l]*.py", "bot/staleness/told.py", "bot/web/answer_views.py", "bot/web/forest_tree.py", "bot/web/section_view.py",
    "bot/slack/inbound/addressed.py", "bot/slack/inbound/parse.py", "bot/slack/message_text.py", "bot/slack/render/*.py",
    "ingest/codec.py", "ingest/counted.py", "ingest/errors.py", "ingest/events/codec.py",
    "ingest/events/ports.py", "ingest/events/topics.py", "ingest/events/window.py", "ingest/html/*.py",
    "ingest/tree/node_identity.py", "ingest/tree/induced_headings.py", "ingest/model.py", "ingest/notes.py",
    "ingest/tree/site_tree.py", "ingest/ports.py", "ingest/text/*.py", "ingest/urls.py", "ingest/watch/schedule.py",
    "navigator/answer.py", "navigator/retrieval/node_selection.py", "navigator/codec.py", "navigator/enrichment/note_prompts.py",
    "navigator/errors.py",
    "navigator/evaluation/gold.py", "navigator/evaluation/judging/inquiry.py", "navigator/evaluation/judging/blind.py",
    "navigator/evaluation/judging/rubrics.py", "navigator/evaluation/metrics.py",
    "navigator/evaluation/questions.py", "navigator/evaluation/report/[!p]*.py", "navigator/evaluation/results.py",
    "navigator/evaluation/statistics.py", "navigator/extracts/[!m]*.py", "navigator/question/__init__.py", "navigator/question/word_counts.py", "navigator/retrieval/forest.py",
    "navigator/models/complete.py", "navigator/citations/cited_lines.py", "navigator/citations/links.py", "navigator/citations/marks.py", "navigator/citations/markup.py", "navigator/markdown/*.py", "navigator/models/prices.py", "navigator/models/tokens.py", "navigator/models/given_text.py",
    "navigator/retrieval/toc.py", "navigator/ports.py", "navigator/evaluation/proposing/checks.py",
    "navigator/evaluation/proposing/languages.py", "navigator/evaluation/proposing/material.py",
    "navigator/evaluation/proposing/turns.py", "navigator/agent/prompts.py", "navigator/agent/arguments.py", "navigator/agent/written_calls.py",
    "navigator/strategies/documents.py", "navigator/strategies/matching.py", "navigator/strategies/rdr2/actions.py",
    "navigator/strategies/rdr2/examples.py", "navigator/strategies/rdr2/tree.py",
)  # fmt: skip
OUTSIDE = {
    "asyncio", "concurrent", "http", "httpx", "io", "logging", "multiprocessing", "os", "pathlib", "random", "secrets",
    "shutil", "signal", "socket", "sqlite3", "ssl", "structlog", "subprocess", "tempfile", "time",
    "urllib.request",
}  # fmt: skip
"""Modules that reach outside: files, network, clock, chance, the log."""
OUTSIDE_CALLS = {"open", "print", "input", "exec", "eval"}


@dataclass(frozen=True)
class Module:
    """One source file. `imports` are whole dotted names, wherever in the file they stand."""

    path: str
    source: str

    @property
    def package(self) -> str:
        return self.path.partition("/")[0]

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.source, self.path)

    @cached_property
    def imports(self) -> set[str]:
        return set(self._imports())

    def _imports(self) -> Iterator[str]:
        for node in ast.walk(self.tree):
            match node:
                case ast.Import(names):
                    yield from (alias.name for alias in names)
                case ast.ImportFrom(module, names, level):
                    base = [*self.path.split("/")[:-level]] if level else []
                    dotted = ".".join([*base, *([module] if module else [])])
                    yield dotted
                    yield from (f"{dotted}.{alias.name}" for alias in names)
                case ast.Call(func, [ast.Constant(str() as name), *_]) if _called(func) in (
                    "import_module",
                    "__import__",
                ):
                    yield name

    def is_one_of(self, patterns: tuple[str, ...]) -> bool:
        return any(fnmatch.fnmatch(self.path, pattern) for pattern in patterns)


Rule = Callable[[Path], Iterator[str]]


def modules(root: Path, *packages: str) -> list[Module]:
    paths = sorted(path for package in packages for path in (root / package).rglob("*.py"))
    return [_module(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")) for path in paths]


@cache
def _module(path: str, source: str) -> Module:
    """One for all rules, so that each file is parsed once."""
    return Module(path, source)


def arrow(root: Path) -> Iterator[str]:
    """deploy -> bot -> navigator -> ingest, and nothing of the product knows its tests."""
    for module in modules(root, *LAYERS):
        above = {*LAYERS[LAYERS.index(module.package) + 1 :], "tests"}
        for name in sorted({imported.partition(".")[0] for imported in module.imports} & above):
            yield f"{module.path} imports {name}"


def vendors(root: Path) -> Iterator[str]:
    """A vendor is known to its adapter only; a vendor that nobody named here is known to none."""
    ours = {*LAYERS, *EVERYWHERE, *(sys.stdlib_module_names - {"sqlite3"})}
    for module in modules(root, *LAYERS):
        for name in sorted({imported.partition(".")[0] for imported in module.imports} - ours):
            if not module.is_one_of(VENDORS.get(name, ())):
                yield f"{module.path} imports {name}"


def purity(root: Path) -> Iterator[str]:
    """A pure module reaches nothing outside, and imports only pure modules of ours."""
    everything = modules(root, *LAYERS)
    names = {
        module.path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): module for module in everything
    }
    for module in everything:
        if not module.is_one_of(PURE) or not module.source.strip():
            continue
        for name in sorted(module.imports):
            if name in OUTSIDE or name.partition(".")[0] in OUTSIDE:
                yield f"{module.path} is pure and imports {name}"
            elif name in names and names[name].source.strip() and not names[name].is_one_of(PURE):
                yield f"{module.path} is pure and imports {name}, which is not"
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call) and _called(node.func) in (*OUTSIDE_CALLS, "now", "today", "uuid4", "utcnow"):
                yield f"{module.path}:{node.lineno} is pure and calls {_called(node.func)}()"


def environment(root: Path) -> Iterator[str]:
    """The environment is read in deploy/settings/root.py and nowhere else."""
    for module in modules(root, *LAYERS):
        if module.path == "deploy/settings/root.py":
            continue
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Attribute) and node.attr in ("environ", "environb", "getenv", "putenv"):
                yield f"{module.path}:{node.lineno} uses {node.attr}"
        if {"os.environ", "os.getenv", "os.environb"} & module.imports:
            yield f"{module.path} imports from os"


def size_and_docstrings(root: Path) -> Iterator[str]:
    """A module says what it is for, and ends before it gets long."""
    for module in modules(root, *LAYERS):
        lines = len(module.source.splitlines())
        if lines > MOST_LINES:
            yield f"{module.path} has {lines} lines, more than {MOST_LINES}"
        if module.source.strip() and not ast.get_docstring(module.tree):
            yield f"{module.path} has no docstring"


def top_level(root: Path) -> Iterator[str]:
    """Exactly the folders and files that the design names, beside dot-files and what git ignores."""
    ignored = [line.strip().rstrip("/") for line in (root / ".gitignore").read_text(encoding="utf-8").splitlines()]
    there = {
        path.name
        for path in root.iterdir()
        if not path.name.startswith(".") and not any(fnmatch.fnmatch(path.name, pattern) for pattern in ignored)
    }
    yield from (f"{name} is not in the design" for name in sorted(there - TOP_LEVEL))
    yield from (f"{name} is missing" for name in sorted(TOP_LEVEL - there))


def no_patching(root: Path) -> Iterator[str]:
    """Tests replace things by arguments, not by patching."""
    for module in modules(root, "tests"):
        for name in sorted(module.imports & {"mock", "unittest.mock", "pytest_mock"}):
            yield f"{module.path} imports {name}"
        for node in ast.walk(module.tree):
            match node:
                case ast.Attribute(ast.Name("monkeypatch"), "setattr" | "delattr" | "setitem" as name):
                    yield f"{module.path}:{node.lineno} uses monkeypatch.{name}"
                case ast.arg("mocker"):
                    yield f"{module.path}:{node.lineno} takes mocker"


def _called(function: ast.expr) -> str:
    match function:
        case ast.Name(name) | ast.Attribute(_, name):
            return name
    return ""


RULES: tuple[Rule, ...] = (arrow, vendors, purity, environment, size_and_docstrings, top_level, no_patching)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_project_keeps_the_rule(rule: Rule) -> None:
    assert list(rule(ROOT)) == []


PLANTED = [
    (arrow, "ingest/a.py", "from navigator.answer import Answer"),
    (arrow, "navigator/a.py", "def late():\n    import bot.slack"),
    (arrow, "bot/a.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from deploy import settings"),
    (arrow, "ingest/a/b.py", "import importlib\nimportlib.import_module('deploy.commands.cli')"),
    (arrow, "navigator/models/a.py", "import tests.fakes"),
    (vendors, "navigator/a.py", "import sqlite3"),
    (vendors, "ingest/stores/a.py", "from qdrant_edge import EdgeShard"),
    (vendors, "navigator/extracts/model.py", "from anthropic import AsyncAnthropic"),
    (vendors, "ingest/a.py", "import requests"),
    (purity, "ingest/html/a.py", "from pathlib import Path"),
    (purity, "ingest/tree/site_tree.py", "import urllib.request"),
    (purity, "ingest/tree/site_tree.py", "from urllib import request"),
    (purity, "navigator/answer.py", "from ingest.embedding import sentence_transformers"),
    (purity, "navigator/answer.py", "from ingest.embedding.sentence_transformers import Model"),
    (purity, "ingest/text/a.py", "def f():\n    return open('x').read()"),
    (purity, "ingest/tree/node_identity.py", "from datetime import datetime\ndef f():\n    return datetime.now()"),
    (environment, "deploy/commands/cli.py", "import os\nos.environ['A']"),
    (environment, "ingest/a.py", "from os import getenv"),
    (size_and_docstrings, "bot/a.py", "A = 1"),
    (size_and_docstrings, "bot/a.py", '"""Long."""\n' + "A = 1\n" * MOST_LINES),
    (top_level, "helpers/a.py", ""),
    (top_level, "NOTES.md", ""),
    (no_patching, "tests/unit/a.py", "from unittest.mock import patch"),
    (no_patching, "tests/unit/a.py", "from unittest import mock"),
    (no_patching, "tests/a.py", "def test_a(monkeypatch):\n    monkeypatch.setattr('a.b', 1)"),
    (no_patching, "tests/a.py", "def test_a(mocker):\n    pass"),
]


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A project in miniature that keeps all rules."""
    for name in TOP_LEVEL:
        if "." in name or name in ("Makefile", "LICENSE"):
            (tmp_path / name).touch()
        else:
            (tmp_path / name).mkdir()
    (tmp_path / ".gitignore").write_text(".venv/\n*.egg-info/\nbuild/\n")
    (tmp_path / "build").mkdir()
    (tmp_path / "ritbot.egg-info").mkdir()
    for path, source in {
        "ingest/embedding/sentence_transformers.py": '"""Not pure."""\nimport asyncio\nimport torch\n',
        "navigator/agent/loop.py": '"""Allowed."""\nimport structlog\nfrom ingest.embedding.sentence_transformers import X\n',
        "deploy/settings/root.py": '"""Allowed."""\nimport os\nos.environ["A"]\n',
    }.items():
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(source)
    return tmp_path


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_a_project_without_violations_is_left_alone(rule: Rule, small: Path) -> None:
    assert list(rule(small)) == []


@pytest.mark.parametrize(("rule", "path", "source"), PLANTED)
def test_a_planted_violation_is_found(rule: Rule, path: str, source: str, small: Path) -> None:
    planted = small / path
    planted.parent.mkdir(parents=True, exist_ok=True)
    planted.write_text(source)
    found = list(rule(small))
    assert found
    assert all(path.partition("/")[0] in violation for violation in found)


def test_a_missing_part_of_the_project_is_found(small: Path) -> None:
    (small / "README.md").unlink()
    assert list(top_level(small)) == ["README.md is missing"]


def test_every_vendor_in_the_table_is_used_where_the_table_says() -> None:
    used = {name.partition(".")[0] for module in modules(ROOT, *LAYERS) for name in module.imports}
    assert sorted(set(VENDORS) - used) == []


@pytest.mark.parametrize("pattern", sorted({*PURE, *(place for places in VENDORS.values() for place in places)}))
def test_every_place_that_a_rule_names_is_there(pattern: str) -> None:
    assert list(ROOT.glob(pattern))


@pytest.mark.parametrize("address", [("192.0.2.1", 80), ("2001:db8::1", 80)])
def test_a_test_that_reaches_for_another_machine_fails(address: tuple[str, int]) -> None:
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as connection, pytest.raises(pytest.fail.Exception):
        connection.connect(address)


def test_a_test_that_asks_for_another_machines_address_fails() -> None:
    with pytest.raises(pytest.fail.Exception):
        socket.getaddrinfo("docs.example.com", 443)
