"""Which strategy answers a question, and where the key of the model goes."""

from __future__ import annotations

from typing import get_args

from bot.slack.inbound.settings_modal import STRATEGY_LABELS
from deploy.settings.root import load
from deploy.settings.site import StrategyName
from ingest.model import Scope
from navigator.strategies.build import FOR_PEOPLE
from tests.unit.deploy.settings.conftest import HOME, Write

TWO_SITES = """
[navigator]
strategy = "agentic"
[model]
api_key = "k"
base_url = "https://here.test"
[[sites]]
name = "a"
start = "/a"
strategy = "rit"
[[sites]]
name = "b"
start = "/b"
"""


def test_a_question_follows_what_its_sites_agree_on(write: Write) -> None:
    settings = load(write(TWO_SITES), HOME)
    assert settings.strategy_of(Scope(frozenset({"a"}))) == "rit"
    assert settings.strategy_of(Scope(frozenset({"b"}))) == "agentic"
    assert settings.strategy_of(Scope()) == "agentic"
    assert settings.strategy_of(Scope(frozenset({"of the command line"}))) == "agentic"


def test_a_strategy_that_needs_a_model_is_refused_without_one(write: Write) -> None:
    bare = load(write(""), HOME)
    assert "set model.api_key" in bare.why_not("rdr2")
    assert "it takes one of" in bare.why_not("none")
    assert bare.why_not("vanilla") == ""
    assert load(write(TWO_SITES), HOME).why_not("rdr2") == ""


def test_the_key_of_the_model_does_not_go_to_another_endpoint_of_the_router(write: Write) -> None:
    same = load(write(TWO_SITES + '[router]\nname = "small"\n'), HOME).routing.model
    assert (same.name, same.base_url, same.api_key is not None) == ("small", "https://here.test", True)
    other = load(write(TWO_SITES + '[router]\nname = "small"\nbase_url = "https://there.test"\n'), HOME).routing.model
    assert (other.base_url, other.api_key) == ("https://there.test", None)


def test_every_strategy_for_people_is_a_setting_and_has_words_in_slack() -> None:
    assert set(get_args(StrategyName)) == set(FOR_PEOPLE) == set(STRATEGY_LABELS) - {""}
