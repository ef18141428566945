"""Numbers of things, as a sentence says them."""

from __future__ import annotations


def counted(count: int, one: str, many: str = "") -> str:
    """As "1 page" or "1,200 pages"; `many` where the plural is no plain s."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def verb(count: int, one: str, many: str) -> str:
    """The form of a verb that goes with so many: "is" or "are"."""
    return one if count == 1 else many
