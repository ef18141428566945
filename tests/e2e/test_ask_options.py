"""`ritbot ask`: another strategy for one question, and the version that a question is answered from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.commands import indexed, ritbot
from tests.fakes.site import html

PORTS = {"v1.9": "1900", "v2.0": "2000"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Indexed documentation in two versions."""
    folder = tmp_path_factory.mktemp("versions")
    pages = folder / "docs"
    for version, port in PORTS.items():
        page = pages / version / "port.html"
        page.parent.mkdir(parents=True)
        page.write_text(html("Port", f"<p>Pump listens on port {port}.</p>"), encoding="utf-8")
    (folder / "ritbot.toml").write_text(
        f"""
[index]
folder = "data"
[[sites]]
name = "pump"
start = "{pages}"
versions = "/(v[0-9.]+)/"
default_version = "v2.0"
""",
        encoding="utf-8",
    )
    return indexed(folder)


@pytest.mark.parametrize(
    ("options", "question", "version"),
    [
        ((), "Which port does Pump listen on?", "v2.0"),
        ((), "Which port does Pump listen on in v1.9?", "v1.9"),
        (("--version", "v1.9"), "Which port does Pump listen on?", "v1.9"),
        (("--version", "v1.9"), "Which port does Pump listen on in v2.0?", "v1.9"),
    ],
)
def test_the_version_asked_for_goes_before_the_one_named_and_that_before_the_default(
    place: Path, options: tuple[str, ...], question: str, version: str
) -> None:
    answer = json.loads(ritbot(place, "ask", *options, "--json", question).stdout)
    assert answer["version"] == version
    assert PORTS[version] in answer["text"]


def test_one_question_is_answered_by_another_strategy(place: Path) -> None:
    answer = json.loads(
        ritbot(place, "ask", "--strategy", "vanilla", "--json", "Which port does Pump listen on?").stdout
    )
    assert (answer["strategy"], answer["outcome"]) == ("vanilla", "answered")
    assert [step["tool"] for step in answer["trace"]["steps"]] == ["search"]


@pytest.mark.parametrize(
    ("strategy", "told"), [("rdr2", "needs a model: set model.api_key"), ("none", "takes one of rit, vanilla")]
)
def test_a_strategy_that_cannot_answer_here_is_refused_with_the_reason(place: Path, strategy: str, told: str) -> None:
    done = ritbot(place, "ask", "--strategy", strategy, "Which port does Pump listen on?")
    assert done.returncode == 2
    assert told in done.stderr


def test_a_strategy_in_the_settings_that_needs_a_model_is_refused_at_the_start(place: Path) -> None:
    done = ritbot(place, "ask", "Which port?", env={"RITBOT_NAVIGATOR__STRATEGY": "agentic"})
    assert done.returncode == 2
    assert "navigator.strategy is agentic, which needs a model" in done.stderr
