"""What tokens cost. Pure.

`PUBLISHED` is Anthropic's own price list (platform.claude.com, "Pricing", October 2026) for the current
models at its own endpoint, in US dollars for a million tokens; cache writes are those kept for five
minutes. Any other endpoint has its own prices: say them in the settings, or the cost stays unknown.

Where the prices of a cache are not said, its tokens cost what they can cost at most, so that no sum is told too low and a
ceiling holds: read at the full price of input, written at 1.25 times that. In Anthropic's list a read costs 0.05 to 0.1
of the price of input, and a write that is kept for five minutes, the only kind that ritbot asks for, 1.25 of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from navigator.answer import Usage

CACHE_WRITE_SHARE = 1.25
"""What writing to the cache costs, in prices of input, where nothing else is said."""


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
        """Dollars for one turn; None where it read or wrote tokens and the price of input or output is unknown."""
        taken = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
        if self.long is not None and taken > self.long_above:
            return self.long.cost(usage)
        written_to_cache = self.input * CACHE_WRITE_SHARE if self.input is not None else None
        total = 0.0
        for tokens, price in (
            (usage.input_tokens, self.input),
            (usage.output_tokens, self.output),
            (usage.cache_read_tokens, self.input if self.cache_read is None else self.cache_read),
            (usage.cache_write_tokens, written_to_cache if self.cache_write is None else self.cache_write),
        ):
            if tokens and price is None:
                return None
            total += tokens * (price or 0.0) / 1_000_000
        return total

    def worst(self, read: int, written: int) -> float | None:
        """Dollars for one turn of so many tokens, whichever of what is read is billed as read from a cache or written to it."""
        ways = (Usage(read, written), Usage(0, written, read), Usage(0, written, 0, read))
        costs = [cost for usage in ways if (cost := self.cost(usage)) is not None]
        return max(costs) if len(costs) == len(ways) else None


PUBLISHED: Mapping[str, Prices] = {
    "claude-haiku-5-5": Prices(0.10, 0.50, 0.01, 0.125, long=Prices(0.50, 2.50, 0.05, 0.625), long_above=100_000),
    "claude-haiku-4-5": Prices(1.00, 5.00, 0.10, 1.25),
    "claude-sonnet-5-5": Prices(2.00, 10.00, 0.10, 2.50),
    "claude-opus-5-5": Prices(4.00, 20.00, 0.20, 5.00),
}
