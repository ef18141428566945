"""What tokens cost. Pure.

`PUBLISHED` is Anthropic's own price list (platform.claude.com, "Pricing", October 2026) for the current
models at its own endpoint, in US dollars for a million tokens; cache writes are those kept for five
minutes. Any other endpoint has its own prices: say them in the settings, or the cost stays unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from navigator.answer import Usage


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars for a million tokens of each kind; None where unknown. Requests of more than
    `long_above` tokens (cached ones counted) are billed as `long` says, where that is given."""

    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None
    long: Prices | None = None
    long_above: int = 0

    def cost(self, usage: Usage) -> float | None:
        """Dollars for one turn; None if it used tokens of a kind whose price is unknown."""
        taken = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
        if self.long is not None and taken > self.long_above:
            return self.long.cost(usage)
        total = 0.0
        for tokens, price in (
            (usage.input_tokens, self.input),
            (usage.output_tokens, self.output),
            (usage.cache_read_tokens, self.cache_read),
            (usage.cache_write_tokens, self.cache_write),
        ):
            if tokens and price is None:
                return None
            total += tokens * (price or 0.0) / 1_000_000
        return total


PUBLISHED: Mapping[str, Prices] = {
    "claude-haiku-5-5": Prices(0.10, 0.50, 0.01, 0.125, long=Prices(0.50, 2.50, 0.05, 0.625), long_above=100_000),
    "claude-haiku-4-5": Prices(1.00, 5.00, 0.10, 1.25),
    "claude-sonnet-5-5": Prices(2.00, 10.00, 0.10, 2.50),
    "claude-opus-5-5": Prices(4.00, 20.00, 0.20, 5.00),
}
