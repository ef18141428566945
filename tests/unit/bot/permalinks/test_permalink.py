"""References to sections, as they stand in addresses."""

from __future__ import annotations

import pytest

from bot.permalinks.permalink import Permalink, parse_reference
from tests.fakes.editions import NODE


@pytest.mark.parametrize(
    ("reference", "permalink"),
    [
        (NODE, Permalink(NODE)),
        (NODE.upper(), Permalink(NODE)),
        (f"{NODE}@873ae3e99dec", Permalink(NODE, "873ae3e99dec")),
        (f"{NODE}@{'AB' * 32}", Permalink(NODE, "ab" * 32)),
        ("", None),
        (NODE[:8], None),
        (f"{NODE}/", None),
        (f"{NODE}@", None),
        (f"{NODE}@12345", None),
        (f"{NODE}@{'a' * 65}", None),
        (f"{NODE}@nothexatall", None),
        (f" {NODE}", None),
        (f"{NODE}\n", None),
        (NODE.replace("4", "٤", 1), None),
        ("../../etc/passwd", None),
        ("x" * 100_000, None),
    ],
)
def test_a_reference_is_an_id_with_or_without_a_hash(reference: str, permalink: Permalink | None) -> None:
    assert parse_reference(reference) == permalink


def test_an_address_names_the_hash_in_short_and_is_read_again() -> None:
    whole = Permalink(NODE, "873ae3e99dec" + "0" * 52)
    assert whole.path == f"/n/{NODE}@873ae3e99dec"
    again = parse_reference(whole.path.removeprefix("/n/"))
    assert again
    assert again.names(whole.hash)
    assert not again.names("9" * 64)
    assert not Permalink(NODE).names(whole.hash)
