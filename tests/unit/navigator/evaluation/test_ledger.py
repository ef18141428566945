"""A run's ceiling: what is begun still fits, as far as anyone can know."""

from hypothesis import given
from hypothesis import strategies as st

from navigator.answer import Usage
from navigator.evaluation.ledger import Ledger, tokens_of


def spend(ledger: Ledger, usage: Usage) -> bool:
    tab = ledger.begin()
    if tab is None:
        return False
    tab.spend(usage)
    tab.close()
    return True


def test_without_a_ceiling_everything_may_be_begun() -> None:
    ledger = Ledger()
    assert all(spend(ledger, Usage(10**9, cost=1e6)) for _ in range(5))
    assert ledger.used.cost == 5e6


def test_a_question_is_begun_only_where_one_as_dear_as_the_dearest_still_fits() -> None:
    ledger = Ledger(dollars=1.0)
    assert spend(ledger, Usage(1, cost=0.4))
    assert spend(ledger, Usage(1, cost=0.1))
    assert spend(ledger, Usage(1, cost=0.1))
    assert spend(ledger, Usage(1, cost=0.1)), "0.6 were used, and 0.4 fit"
    assert not spend(ledger, Usage(1, cost=0.0))


def test_those_under_way_count() -> None:
    ledger = Ledger(dollars=1.0)
    assert spend(ledger, Usage(1, cost=0.3))
    first, second = ledger.begin(), ledger.begin()
    assert first
    assert second
    assert ledger.begin() is None
    first.close()
    assert ledger.begin() is not None, "the first cost nothing in the end"


def test_at_the_ceiling_nothing_is_begun_whatever_it_costs() -> None:
    ledger = Ledger(tokens=10)
    tab = ledger.begin()
    assert tab
    tab.spend(Usage(5, 5))
    assert ledger.begin() is None


def test_tokens_of_every_kind_count() -> None:
    assert tokens_of(Usage(1, 10, 100, 1000)) == 1111
    ledger = Ledger(tokens=2_000)
    assert spend(ledger, Usage(0, 0, 0, 1_500))
    assert not spend(ledger, Usage())


def test_tokens_of_unknown_price_end_what_dollars_bound() -> None:
    ledger = Ledger(dollars=100.0)
    assert spend(ledger, Usage(5))
    assert ledger.unpriced
    assert ledger.begin() is None


def test_no_tokens_have_no_unknown_price() -> None:
    ledger = Ledger(dollars=1.0)
    assert spend(ledger, Usage())
    assert not ledger.unpriced


@given(st.lists(st.floats(0.001, 1.0), max_size=40), st.floats(0.01, 5.0))
def test_one_at_a_time_a_run_goes_over_its_ceiling_by_what_is_dearer_than_all_before_at_most(
    costs: list[float], ceiling: float
) -> None:
    ledger = Ledger(dollars=ceiling)
    begun = [cost for cost in costs if spend(ledger, Usage(1, cost=cost))]
    over = (ledger.used.cost or 0.0) - ceiling
    assert over <= max(begun, default=0.0) + 1e-9
    if len(set(costs)) == 1 and costs[0] <= ceiling:
        assert over <= 1e-9
