"""Which contenders `ritbot eval` compares: strategies as the settings have them, and with one number changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from deploy.settings.messages import SettingsError, did_you_mean
from navigator.evaluation.results import Contender
from navigator.retrieval.retriever import Recipe
from navigator.strategies.strategy import StrategyBounds

MAX_SWEPT_VALUE = 1_000
K_OF_STRATEGY: Mapping[str, str] = {
    "vanilla": "chunks",
    "rdr2": "chunks",
    "agentic": "search_chunks",
    "interact": "search_chunks",
    "pageindex": "document_chunks",
}
"""The bound that is k of a strategy."""
SWEPT_STRATEGIES: Mapping[str, tuple[str, ...]] = {"n": ("rit",), "k": tuple(K_OF_STRATEGY), "expansions": ("rdr2",)}
"""What can be swept, and the strategies that have it."""
SWEPT_LABELS: Mapping[str, str] = {"n": "n", "k": "k", "expansions": "E"}


@dataclass(frozen=True, slots=True)
class Variant:
    """A strategy with its numbers."""

    strategy: str
    recipe: Recipe
    bounds: StrategyBounds
    label: str

    @property
    def contender(self) -> Contender:
        name, bounds = self.strategy, self.bounds
        rit, rdr2 = name == "rit", name == "rdr2"
        return Contender(
            self.label,
            name,
            n=self.recipe.n if rit else None,
            k=self.recipe.k if rit else getattr(bounds, K_OF_STRATEGY[name]) if name in K_OF_STRATEGY else None,
            expansions=bounds.expansions if rdr2 else None,
            structure=bounds.structure or not rdr2,
        )

    def with_value(self, setting: str, value: int) -> Variant:
        label = f"{self.strategy} {SWEPT_LABELS[setting]}={value}"
        if setting == "n":
            return replace(self, recipe=replace(self.recipe, n=value), label=label)
        changed: dict[str, Any] = {K_OF_STRATEGY[self.strategy] if setting == "k" else setting: value}
        return replace(self, bounds=replace(self.bounds, **changed), label=label)


def variants(
    strategies: Sequence[str],
    recipe: Recipe,
    bounds: StrategyBounds,
    sweeps: Mapping[str, Sequence[int]],
    *,
    without_structure: bool = False,
) -> list[Variant]:
    """Each strategy as it is set, then with each value of each sweep that it has. Raises SettingsError for a sweep, or a
    missing structure, that none of the strategies has."""
    found: dict[tuple[str, Recipe, StrategyBounds], Variant] = {}
    bases = [Variant(name, recipe, bounds, name) for name in dict.fromkeys(strategies)]
    for setting in sweeps:
        if not set(strategies) & set(SWEPT_STRATEGIES[setting]):
            raise SettingsError(f"--sweep {setting} needs one of the strategies {', '.join(SWEPT_STRATEGIES[setting])}")
    if without_structure and "rdr2" not in strategies:
        raise SettingsError("--no-structure is a variant of the strategy rdr2, which is not among the strategies")
    for base in bases:
        changed = [
            base.with_value(s, v)
            for s, values in sweeps.items()
            if base.strategy in SWEPT_STRATEGIES[s]
            for v in values
        ]
        if without_structure and base.strategy == "rdr2":
            changed.append(replace(base, bounds=replace(bounds, structure=False), label="rdr2 without structure"))
        for variant in [base, *changed]:
            found.setdefault((variant.strategy, variant.recipe, variant.bounds), variant)
    return list(found.values())


def sweeps_of(given: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """`["n=10,25", "k=5"]` as numbers. Raises SettingsError with all that is wrong."""
    found: dict[str, tuple[int, ...]] = {}
    wrong: list[str] = []
    for text in given:
        name, _, listed = text.partition("=")
        name, values = name.strip(), [value.strip() for value in listed.split(",")]
        least = 0 if name == "expansions" else 1
        if name not in SWEPT_STRATEGIES:
            wrong.append(
                f"--sweep {text}: {name} cannot be swept, only {', '.join(SWEPT_STRATEGIES)}{did_you_mean(name, SWEPT_STRATEGIES)}"
            )
        elif not all(value.isdecimal() and least <= int(value) <= MAX_SWEPT_VALUE for value in values):
            wrong.append(
                f"--sweep {text}: it takes whole numbers from {least} to {MAX_SWEPT_VALUE:,}, as in {name}=5,10,25"
            )
        else:
            found[name] = tuple(dict.fromkeys((*found.get(name, ()), *map(int, values))))
    if wrong:
        raise SettingsError(*wrong)
    return found
