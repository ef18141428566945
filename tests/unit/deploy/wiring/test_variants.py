"""Which contenders an evaluation compares."""

import pytest

from deploy.settings.messages import SettingsError
from deploy.wiring.variants import sweeps_of, variants
from navigator.evaluation.results import Contender
from navigator.retrieval.retriever import Recipe
from navigator.strategies.build import FOR_PEOPLE
from navigator.strategies.strategy import StrategyBounds


def labels(*strategies: str, **options: object) -> list[str]:
    sweeps = options.pop("sweeps", {})
    return [v.label for v in variants(strategies, Recipe(), StrategyBounds(), sweeps, **options)]  # type: ignore[arg-type]


def test_each_strategy_takes_part_once_with_its_own_numbers() -> None:
    found = [variant.contender for variant in variants(("none", *FOR_PEOPLE, "rit"), Recipe(), StrategyBounds(), {})]
    assert found == [
        Contender("none", "none"),
        Contender("vanilla", "vanilla", k=5),
        Contender("agentic", "agentic", k=5),
        Contender("interact", "interact", k=5),
        Contender("pageindex", "pageindex", k=50),
        Contender("rit", "rit", n=50, k=200),
        Contender("rdr2", "rdr2", k=5, expansions=3),
    ]


def test_a_sweep_varies_one_number_of_the_strategies_that_have_it() -> None:
    assert labels("rit", "vanilla", sweeps={"n": (10, 25)}) == ["rit", "rit n=10", "rit n=25", "vanilla"]
    assert labels("vanilla", "rdr2", sweeps={"k": (10,), "expansions": (0,)}) == [
        "vanilla",
        "vanilla k=10",
        "rdr2",
        "rdr2 k=10",
        "rdr2 E=0",
    ]


def test_a_swept_forest_keeps_its_chunks_per_node() -> None:
    (_, variant) = variants(("rit",), Recipe(), StrategyBounds(), {"n": (10,)})
    assert variant.recipe == Recipe(n=10)
    assert (variant.contender.n, variant.contender.k) == (10, 40)


def test_k_is_each_strategys_own_number_of_chunks() -> None:
    found = variants(("agentic", "pageindex", "vanilla"), Recipe(), StrategyBounds(), {"k": (7,)})
    assert [variant.contender.k for variant in found] == [5, 7, 50, 7, 5, 7]


def test_a_value_that_is_the_settings_own_makes_no_second_contender() -> None:
    assert labels("rit", sweeps={"n": (50, 10)}) == ["rit", "rit n=10"]


def test_rdr2_takes_part_without_structure_too() -> None:
    (whole, without) = variants(("rdr2",), Recipe(), StrategyBounds(), {}, without_structure=True)
    assert (whole.contender.structure, without.contender.structure) == (True, False)
    assert without.label == "rdr2 without structure"
    assert not without.bounds.structure


def test_what_no_strategy_has_is_refused() -> None:
    with pytest.raises(SettingsError, match="--sweep n needs one of the strategies rit"):
        labels("vanilla", sweeps={"n": (10,)})
    with pytest.raises(SettingsError, match="rdr2"):
        labels("vanilla", without_structure=True)


def test_sweeps_are_read() -> None:
    assert sweeps_of(["n=10, 25,10", "n=50", "expansions=0"]) == {"n": (10, 25, 50), "expansions": (0,)}
    assert sweeps_of([]) == {}


@pytest.mark.parametrize("text", ["m=5", "n", "n=", "n=a", "n=0", "n=-1", "n=1.5", "n=1001", "k=5,,6", "=5"])
def test_what_is_no_sweep_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="--sweep"):
        sweeps_of([text])


def test_all_that_is_wrong_with_sweeps_is_told_at_once() -> None:
    with pytest.raises(SettingsError) as caught:
        sweeps_of(["expansion=3", "n=a"])
    assert len(caught.value.problems) == 2
    assert "did you mean expansions?" in str(caught.value)
