"""The ceiling of one answer, as the settings say (deploy/wiring/navigation.py)."""

from typing import Any

import pytest

from deploy.settings.messages import SettingsError
from deploy.settings.root import Settings
from deploy.wiring.navigation import answer_ceiling

PRICED = {"input": 1.0, "output": 5.0}


def settings(
    navigator: dict[str, Any], model: dict[str, Any] | None = None, router: dict[str, Any] | None = None
) -> Settings:
    table = {"api_key": "k", "base_url": "http://127.0.0.1:1", "name": "m", **(model or {})}
    return Settings.model_validate(
        {"index": {"folder": "x"}, "navigator": navigator, "model": table, "router": router or {}}
    )


def test_no_ceiling_is_set_by_itself() -> None:
    assert answer_ceiling(settings({})) is None


def test_a_ceiling_in_dollars_has_the_price_of_every_model_that_is_asked() -> None:
    router = {"name": "small", "prices": {"input": 0.1, "output": 0.2}}
    made = answer_ceiling(settings({"max_cost": 1.0}, {"prices": PRICED}, router))
    assert made is not None
    assert (made.dollars, made.tokens, sorted(made.prices)) == (1.0, None, ["m", "small"])
    prices = made.prices["small"]
    assert prices is not None
    assert prices.output == 0.2


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (({"max_cost": 1.0},), "set model.prices.input"),
        (({"max_cost": 1.0}, {"prices": {"input": 1.0}}), "set model.prices.input"),
        (({"max_cost": 1.0}, {"prices": PRICED}, {"name": "small"}), "set router.prices.input"),
        (({"max_cost": 0.01}, {"prices": PRICED}), "leaves no room for an answer"),
        (({"max_tokens": 10_000},), "leaves no room for an answer"),
    ],
)
def test_a_ceiling_that_cannot_hold_is_told_at_the_start(given: tuple[Any, ...], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        answer_ceiling(settings(*given))


def test_fewer_tokens_a_turn_make_a_small_ceiling_possible_and_tokens_need_no_price() -> None:
    made = answer_ceiling(settings({"max_tokens": 10_000}, {"max_tokens": 500}))
    assert made is not None
    assert (made.tokens, made.max_output_tokens) == (10_000, 500)
