"""What a run has used, and its ceiling. No I/O.

What a question will cost is not known before it is answered: one is begun only where it and those under way still fit
if each of them costs as much as the dearest until now. So a run goes over its ceiling by less than what the questions
under way cost, and only while its first questions are on their way.
"""

from __future__ import annotations

from navigator.answer import Usage

CEILING = "the ceiling is reached"


class Ledger:
    """`dollars` and `tokens` (read and written together) are what may be used; None: no such ceiling."""

    def __init__(self, *, dollars: float | None = None, tokens: int | None = None) -> None:
        self._dollars = dollars
        self._tokens = tokens
        self._open: set[Tab] = set()
        self._dearest = 0.0
        self._longest = 0
        self.used = Usage()
        self.unpriced = False
        """Whether tokens were used whose price is not known."""

    @property
    def refusal(self) -> str:
        """Why `begin` gives nothing."""
        unknown = self._dollars is not None and self.unpriced
        return "tokens were used whose price is not known" if unknown else CEILING

    def begin(self) -> Tab | None:
        """A tab for one question, to be closed; None where it may not be begun."""
        if not self._fits(len(self._open) + 1):
            return None
        tab = Tab(self)
        self._open.add(tab)
        return tab

    def _fits(self, begun: int) -> bool:
        used, tokens = self.used.cost or 0.0, tokens_of(self.used)
        if self._dollars is not None and (
            self.unpriced or used >= self._dollars or used + begun * self._dearest > self._dollars
        ):
            return False
        return self._tokens is None or (tokens < self._tokens and tokens + begun * self._longest <= self._tokens)

    def _spend(self, usage: Usage) -> None:
        self.used += usage
        self.unpriced |= usage.cost is None and tokens_of(usage) > 0

    def _close(self, tab: Tab) -> None:
        self._open.discard(tab)
        self._dearest = max(self._dearest, tab.used.cost or 0.0)
        self._longest = max(self._longest, tokens_of(tab.used))


class Tab:
    """What one question uses, from its beginning to its verdict."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.used = Usage()

    def spend(self, usage: Usage) -> None:
        self.used += usage
        self._ledger._spend(usage)

    def close(self) -> None:
        self._ledger._close(self)


def tokens_of(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens + usage.cache_read_tokens + usage.cache_write_tokens
