"""What `ritbot questions` will not begin, each with what to do about it. Nothing is opened for that."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from deploy.commands.evaluation.questions import ProposeOptions, propose
from deploy.settings.messages import SettingsError
from deploy.settings.root import load

LOCAL = {"RITBOT_MODEL__API_KEY": "test", "RITBOT_MODEL__BASE_URL": "http://127.0.0.1:9"}
BROKEN = '{"question": "Why?"}\n{"questoin": "Why?"}\n'


@pytest.fixture
def wanted(tmp_path: Path) -> ProposeOptions:
    """Of a site that the settings beside it know."""
    settings = f'[index]\nfolder = "{tmp_path}/data"\n[[sites]]\nname = "house"\nstart = "https://house.example/"\n'
    (tmp_path / "ritbot.toml").write_text(settings, encoding="utf-8")
    return ProposeOptions("house", tmp_path / "questions.jsonl")


async def refusal(wanted: ProposeOptions, **variables: str) -> str:
    settings = load(wanted.out.with_name("ritbot.toml"), variables)
    with pytest.raises((SettingsError, OSError)) as refused:
        await propose(settings, wanted, Console(file=StringIO()))
    return str(refused.value)


async def test_without_a_model_it_says_how_to_set_one(wanted: ProposeOptions) -> None:
    assert "needs a language model, and none is set: set ANTHROPIC_API_KEY" in await refusal(wanted)


async def test_a_site_that_is_not_there_is_named_with_the_nearest(wanted: ProposeOptions) -> None:
    assert "no site called hose; did you mean house" in await refusal(replace(wanted, site="hose"), **LOCAL)


async def test_a_ceiling_in_dollars_needs_prices(wanted: ProposeOptions) -> None:
    told = await refusal(replace(wanted, max_cost=1.0), **LOCAL)
    assert "set model.prices.input and model.prices.output, or leave --max-cost out" in told


async def test_examples_with_mistakes_are_named_with_their_lines(wanted: ProposeOptions) -> None:
    examples = wanted.out.with_name("mine.jsonl")
    examples.write_text(BROKEN, encoding="utf-8")
    told = await refusal(replace(wanted, examples=examples), **LOCAL)
    assert "mine.jsonl:2: 'questoin' is not known" in told
    examples.write_bytes(BROKEN.encode("utf-16"))
    assert "mine.jsonl is no text in UTF-8" in await refusal(replace(wanted, examples=examples), **LOCAL)
    missing = replace(wanted, examples=wanted.out.with_name("missing.jsonl"))
    assert "No such file" in await refusal(missing, **LOCAL)


async def test_a_file_with_mistakes_is_left_as_it_is(wanted: ProposeOptions) -> None:
    wanted.out.write_text(BROKEN, encoding="utf-8")
    assert "questions.jsonl:2: 'questoin' is not known" in await refusal(wanted, **LOCAL)
    assert wanted.out.read_text(encoding="utf-8") == BROKEN
